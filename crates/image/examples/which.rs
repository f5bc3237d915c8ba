//! Which server a program is: `cargo run -p tare-image --example which /usr/sbin/mariadbd`.

use std::path::Path;

fn main() {
    for path in std::env::args().skip(1) {
        match tare_image::Image::open(Path::new(&path)) {
            Ok(image) => println!("{path}: {:?}", image.recognise()),
            Err(error) => println!("{error}"),
        }
    }
}
