# The vectors are used where they are.
if [ -z "${TRACEGLASS_VECTORS:-}" ] && [ -d ../shared/vectors ]; then
    TRACEGLASS_VECTORS=$(realpath ../shared/vectors)
    export TRACEGLASS_VECTORS
fi

# Makes virtual environments, each with packages of fixed versions.

make_venv() { # FOLDER PACKAGE==VERSION...
    local folder=$1
    shift
    if [ "$(cat "$folder/complete" 2>/dev/null)" != "$*" ]; then
        rm -rf "$folder"
        "${PYTHON:-python3}" -m venv "$folder"
        "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
        echo "$*" >"$folder/complete"
    fi
}
