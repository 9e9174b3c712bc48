//! A program of this machine, traced beside modules.

use super::Files;

#[test]
fn a_native_program_is_given_what_a_module_is() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new();
    let (program, input) = (files.path("program"), files.path("input"));
    let script = "#!/bin/sh\nread line; echo \"$1 $DEPTH $line $(pwd -P)\"; exit 3\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(&input, "read\n").unwrap();
    let folder = files.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let dir = format!("{}::data", folder.display());
    let mut words = vec![
        "--engines",
        "native",
        "--env",
        "DEPTH=10,994",
        "--dir",
        &dir,
    ];
    words.extend(["--stdin", input.to_str().unwrap()]);
    words.extend([program.to_str().unwrap(), "--", "word"]);
    let (output, answer) = files.trace(&words);
    let folder = folder.canonicalize().unwrap();
    let said = format!("word 10,994 read {}\n", folder.display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), said);
    assert_eq!(
        (output.status.code(), &answer["status"]),
        (Some(3), &3.into())
    );
}
