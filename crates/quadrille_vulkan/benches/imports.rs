//! Time to compose and translate chains of shader files of which each imports from the next, and a file
//! that imports from all others.
//!
//! `cargo bench -p quadrille_vulkan --bench imports`; needs no device.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::time::Instant;

use quadrille_vulkan::shader::GpuShader;

const COUNTS: [usize; 5] = [250, 500, 1000, 2000, 4000];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The standard library seeds these hashers by the system's generator.
    let random = RandomState::new().hash_one(std::process::id());
    let folder = std::env::temp_dir().join(format!("quadrille-imports-{random:016x}"));
    fs::create_dir(&folder)?;
    println!("files | chain, ms | per file, us | star, ms | per file, us");
    let measured = COUNTS.iter().try_for_each(|&count| {
        let chain = time(&folder, count, chain)?;
        let star = time(&folder, count, star)?;
        let each = |seconds: f64| 1e6 * seconds / count as f64;
        println!(
            "{count:5} | {:9.1} | {:12.1} | {:8.1} | {:12.1}",
            1e3 * chain,
            each(chain),
            1e3 * star,
            each(star)
        );
        Ok(())
    });
    fs::remove_dir_all(&folder)?;
    measured
}

/// Seconds that loading the first of so many files takes.
fn time(
    folder: &Path,
    count: usize,
    text: fn(usize, usize) -> String,
) -> Result<f64, Box<dyn std::error::Error>> {
    for at in 0..count {
        fs::write(folder.join(format!("m{at}.wgsl")), text(at, count))?;
    }
    let start = Instant::now();
    GpuShader::load(folder.join("m0.wgsl"))?;
    Ok(start.elapsed().as_secs_f64())
}

/// Constants, since a chain of calls would measure the translator, which is not linear in it.
fn chain(at: usize, count: usize) -> String {
    let next = at + 1;
    let import = if next < count {
        format!("import super::m{next}::c{next} as behind;\n")
    } else {
        String::new()
    };
    format!("{import}const c{at} = {at}u;\n{}", entry(at))
}

fn star(at: usize, count: usize) -> String {
    let imports = (1..count).filter(|_| at == 0);
    let imports: String = imports
        .map(|it| format!("import super::m{it}::c{it};\n"))
        .collect();
    format!("{imports}const c{at} = {at}u;\n{}", entry(at))
}

fn entry(at: usize) -> &'static str {
    if at == 0 {
        "@compute @workgroup_size(1) fn main() {}"
    } else {
        ""
    }
}
