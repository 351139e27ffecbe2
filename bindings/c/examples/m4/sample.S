/* A file in flash: -DNAME=… and -DFILE=… say which one. */
#define NAMED(name, what) name ## what
#define SIZE_OF(name) NAMED(name, _size)
    .section .rodata.sample, "a"
    .balign 4
    .global NAME
NAME:
    .incbin FILE
1:
    .balign 4
    .global SIZE_OF(NAME)
SIZE_OF(NAME):
    .word 1b - NAME
    .section .note.GNU-stack, "", %progbits
