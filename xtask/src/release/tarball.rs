//! The tarball for people without cargo: the command, its manual pages and completions, licences and texts.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Release, ensure};
use crate::spawn;

/// Completions: the shell's name and the file it looks for.
const SHELLS: [(&str, &str); 3] = [("bash", "mercer.bash"), ("zsh", "_mercer"), ("fish", "mercer.fish")];

/// Makes the tarball and its checksum from the installed command.
pub(super) fn make(release: &Release, command: &Path) -> Result<()> {
    let name = format!("mercer-{}-{}-{}", release.version, std::env::consts::ARCH, std::env::consts::OS);
    let work = crate::python::target(&release.root).join("dist-tarball");
    if work.exists() {
        fs::remove_dir_all(&work).with_context(|| work.display().to_string())?;
    }
    let folder = work.join(&name);
    let (man, completions) = (folder.join("man/man1"), folder.join("completions"));
    for path in [&folder.join("bin"), &man, &completions] {
        fs::create_dir_all(path).with_context(|| path.display().to_string())?;
    }
    fs::copy(command, folder.join("bin/mercer"))?;
    for file in ["README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"]
    {
        fs::copy(release.root.join(file), folder.join(file)).with_context(|| file.to_owned())?;
    }
    for (shell, file) in SHELLS {
        let text = output(command, &["completions", shell])?;
        ensure(text.contains("mercer"), || format!("completions for {shell} are empty"))?;
        fs::write(completions.join(file), text)?;
    }
    spawn(Command::new(command).args(["man", "--quiet", "--out"]).arg(&man))?;
    let pages = fs::read_dir(&man)?.count();
    ensure(pages > 20, || format!("only {pages} manual pages"))?;
    let file = release.dist.join(format!("{name}.tar.gz"));
    spawn(Command::new("tar").arg("-czf").arg(&file).arg("-C").arg(&work).arg(&name))?;
    let sum = Command::new("sha256sum")
        .arg(file.file_name().unwrap_or_default())
        .current_dir(&release.dist)
        .output()?;
    fs::write(release.dist.join(format!("{name}.tar.gz.sha256")), sum.stdout)?;
    println!("tarball: {pages} manual pages, {} completions", SHELLS.len());
    Ok(())
}

fn output(command: &Path, args: &[&str]) -> Result<String> {
    let out = Command::new(command).args(args).output().with_context(|| command.display().to_string())?;
    if !out.status.success() {
        bail!("mercer {} ended with {}", args.join(" "), out.status);
    }
    Ok(String::from_utf8(out.stdout)?)
}
