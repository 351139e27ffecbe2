//! The stack of the module: a session of an RTC file has thousands of streams, of which the table is moved as a whole.

fn main() {
    println!("cargo:rustc-link-arg-cdylib=-zstack-size=33554432");
}
