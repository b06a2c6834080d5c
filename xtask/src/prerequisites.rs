//! What the machine must have for a command, and how it gets it.
//!
//! The decisions are pure functions over a [`Machine`]; only `ensure_*` acts on them.

use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::machine::{Machine, Vulkan, find_program};

/// Whether a command may install what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallPolicy {
    /// Install it.
    Allow,
    /// Only say what is missing, because of this flag.
    Refuse(&'static str),
}

/// What to do about a prerequisite.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    /// It is there; what was found, for people.
    Ready(String),
    /// It is missing; run these commands.
    Install { missing: String, commands: Vec<Vec<String>> },
    /// It is missing and cannot be installed here; the whole explanation.
    Refuse(String),
}

/// How a family of Linux distributions installs Mesa's software Vulkan driver and the Vulkan loader.
struct Packages {
    distribution: &'static str,
    command: &'static str,
}

/// The packages by distribution; Debian and its relatives are installed by us, the others by the reader.
const PACKAGES: &[Packages] = &[
    Packages { distribution: "debian", command: "apt-get install -y mesa-vulkan-drivers libvulkan1" },
    Packages { distribution: "ubuntu", command: "apt-get install -y mesa-vulkan-drivers libvulkan1" },
    Packages { distribution: "fedora", command: "dnf install mesa-vulkan-drivers vulkan-loader" },
    Packages { distribution: "arch", command: "pacman -S vulkan-swrast vulkan-icd-loader" },
    Packages { distribution: "alpine", command: "apk add mesa-vulkan-swrast vulkan-loader" },
    Packages { distribution: "suse", command: "zypper install libvulkan_lvp libvulkan1" },
];

/// The rustup components that `cargo xtask test` calls, with the cargo command of each.
const COMPONENTS: &[(&str, &str)] = &[("rustfmt", "fmt"), ("clippy", "clippy")];

/// Makes sure that this machine has an adapter for kernels to run on.
pub(crate) fn ensure_adapter(policy: InstallPolicy) -> anyhow::Result<()> {
    let machine = Machine::probe();
    match decide_adapter(&machine, policy) {
        Decision::Ready(found) => println!("{found}"),
        Decision::Refuse(explanation) => bail!("{explanation}"),
        Decision::Install { missing, commands } => {
            println!("{missing}; installing Mesa's software driver");
            run_all(&commands)?;
            let decision = decide_adapter(&Machine::probe(), InstallPolicy::Refuse("the installation"));
            let Decision::Ready(found) = decision else {
                bail!(
                    "the packages are installed, but there is still no Vulkan adapter\n\
                     help: `vulkaninfo --summary` (package vulkan-tools) says what the loader finds"
                );
            };
            println!("{found}");
        }
    }
    Ok(())
}

/// Makes sure that the toolchain can format and lint.
pub(crate) fn ensure_components(policy: InstallPolicy) -> anyhow::Result<()> {
    let missing: Vec<&str> =
        COMPONENTS.iter().filter(|(_, command)| !cargo_has(command)).map(|&(component, _)| component).collect();
    match decide_components(&missing, find_program("rustup").is_some(), policy) {
        Decision::Ready(_) => Ok(()),
        Decision::Refuse(explanation) => bail!("{explanation}"),
        Decision::Install { missing, commands } => {
            println!("{missing}; installing");
            run_all(&commands)
        }
    }
}

fn decide_adapter(machine: &Machine, policy: InstallPolicy) -> Decision {
    if let "macos" | "windows" = machine.os {
        return Decision::Ready("graphics API: the system's own".to_owned());
    }
    let missing = match &machine.vulkan {
        Vulkan::Adapters(names) => return Decision::Ready(format!("Vulkan adapters: {}", names.join(", "))),
        Vulkan::NoLoader => "no Vulkan loader (libvulkan.so.1) is installed",
        Vulkan::NoAdapter => "the Vulkan loader finds no adapter",
    };
    let refuse = |reason: String, command: String| {
        Decision::Refuse(format!("{missing}, and kernels need an adapter to run on; {reason}\nhelp: {command}"))
    };
    if let [variable, ..] = machine.driver_overrides[..] {
        return refuse(format!("`{variable}` restricts which drivers are read"), format!("unset `{variable}`"));
    }
    let Some(packages) = packages(machine) else {
        return refuse(
            "this distribution is not known here".to_owned(),
            "install the Vulkan loader and a driver (Mesa's lavapipe runs on any CPU)".to_owned(),
        );
    };
    let by_hand = format!("run `sudo {}`", packages.command);
    if !packages.command.starts_with("apt-get") {
        return refuse("packages are installed automatically on Debian and Ubuntu only".to_owned(), by_hand);
    }
    match policy {
        InstallPolicy::Refuse(flag) => refuse(format!("{flag} forbids to install one"), by_hand),
        InstallPolicy::Allow if !machine.apt_get => refuse("`apt-get` is missing".to_owned(), by_hand),
        InstallPolicy::Allow if !machine.root && !machine.sudo => {
            refuse("installing needs root, and `sudo` is missing".to_owned(), by_hand)
        }
        InstallPolicy::Allow => Decision::Install {
            missing: missing.to_owned(),
            commands: vec![as_root(machine, "apt-get update"), as_root(machine, packages.command)],
        },
    }
}

fn packages(machine: &Machine) -> Option<&'static Packages> {
    machine.distributions.iter().find_map(|id| PACKAGES.iter().find(|packages| packages.distribution == id))
}

/// The words of a command line, run by root without questions.
fn as_root(machine: &Machine, command: &str) -> Vec<String> {
    let sudo: &[&str] = if machine.root { &[] } else { &["sudo"] };
    let quiet = ["env", "DEBIAN_FRONTEND=noninteractive"];
    sudo.iter().copied().chain(quiet).chain(command.split_whitespace()).map(str::to_owned).collect()
}

fn decide_components(missing: &[&str], rustup: bool, policy: InstallPolicy) -> Decision {
    if missing.is_empty() {
        return Decision::Ready("toolchain components: complete".to_owned());
    }
    let names = missing.join(" ");
    let what = format!("the toolchain lacks {}", missing.join(" and "));
    match policy {
        _ if !rustup => Decision::Refuse(format!("{what}\nhelp: install it with your system's package manager")),
        InstallPolicy::Refuse(flag) => {
            Decision::Refuse(format!("{what}, and {flag} forbids to install\nhelp: run `rustup component add {names}`"))
        }
        InstallPolicy::Allow => {
            let command = format!("rustup component add {names}");
            Decision::Install { missing: what, commands: vec![command.split_whitespace().map(str::to_owned).collect()] }
        }
    }
}

fn cargo_has(command: &str) -> bool {
    let mut cargo = Command::new(crate::steps::cargo());
    cargo.args([command, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    cargo.status().is_ok_and(|status| status.success())
}

fn run_all(commands: &[Vec<String>]) -> anyhow::Result<()> {
    for words in commands {
        let line = words.join(" ");
        println!("$ {line}");
        let status = Command::new(&words[0]).args(&words[1..]).status().with_context(|| format!("`{line}`"))?;
        ensure!(status.success(), "`{line}` failed: {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(distribution: &str, vulkan: Vulkan) -> Machine {
        Machine {
            os: "linux",
            distributions: vec![distribution.to_owned()],
            vulkan,
            driver_overrides: vec![],
            root: true,
            sudo: false,
            apt_get: true,
        }
    }

    fn refusal(machine: &Machine, policy: InstallPolicy) -> String {
        match decide_adapter(machine, policy) {
            Decision::Refuse(explanation) => explanation,
            other => panic!("expected a refusal, found {other:?}"),
        }
    }

    fn installed_by(machine: &Machine) -> Vec<String> {
        match decide_adapter(machine, InstallPolicy::Allow) {
            Decision::Install { commands, .. } => commands.iter().map(|words| words.join(" ")).collect(),
            other => panic!("expected an installation, found {other:?}"),
        }
    }

    #[test]
    fn an_adapter_is_enough() {
        let machine = machine("gentoo", Vulkan::Adapters(vec!["llvmpipe".to_owned()]));
        let expected = Decision::Ready("Vulkan adapters: llvmpipe".to_owned());
        assert_eq!(decide_adapter(&machine, InstallPolicy::Refuse("--offline")), expected);
    }

    #[test]
    fn macos_and_windows_bring_their_own() {
        for os in ["macos", "windows"] {
            let machine = Machine { os, ..machine("", Vulkan::NoLoader) };
            assert!(matches!(decide_adapter(&machine, InstallPolicy::Allow), Decision::Ready(_)));
        }
    }

    #[test]
    fn debian_and_its_relatives_install_with_apt() {
        let root = machine("debian", Vulkan::NoLoader);
        assert_eq!(
            installed_by(&root),
            [
                "env DEBIAN_FRONTEND=noninteractive apt-get update",
                "env DEBIAN_FRONTEND=noninteractive apt-get install -y mesa-vulkan-drivers libvulkan1",
            ]
        );
        let mint = Machine { distributions: vec!["linuxmint".to_owned(), "ubuntu".to_owned()], ..root };
        let user = Machine { root: false, sudo: true, vulkan: Vulkan::NoAdapter, ..mint };
        assert!(installed_by(&user).iter().all(|line| line.starts_with("sudo env ")));
    }

    #[test]
    fn a_flag_forbids_to_install() {
        let text = refusal(&machine("ubuntu", Vulkan::NoLoader), InstallPolicy::Refuse("--no-install"));
        assert!(text.contains("--no-install forbids"), "{text}");
        assert!(text.contains("sudo apt-get install -y mesa-vulkan-drivers libvulkan1"), "{text}");
    }

    #[test]
    fn a_user_without_sudo_is_told_what_to_run() {
        let machine = Machine { root: false, ..machine("debian", Vulkan::NoLoader) };
        assert!(refusal(&machine, InstallPolicy::Allow).contains("needs root"));
    }

    #[test]
    fn other_distributions_are_told_what_to_install() {
        for (distribution, package) in [("fedora", "vulkan-loader"), ("arch", "vulkan-swrast"), ("nixos", "lavapipe")] {
            let text = refusal(&machine(distribution, Vulkan::NoLoader), InstallPolicy::Allow);
            assert!(text.contains(package), "{text}");
        }
    }

    #[test]
    fn a_driver_override_is_named_rather_than_installed_around() {
        let machine = Machine { driver_overrides: vec!["VK_DRIVER_FILES"], ..machine("debian", Vulkan::NoAdapter) };
        assert!(refusal(&machine, InstallPolicy::Allow).contains("unset `VK_DRIVER_FILES`"));
    }

    #[test]
    fn missing_components_come_from_rustup() {
        let allow = InstallPolicy::Allow;
        assert!(matches!(decide_components(&[], false, allow), Decision::Ready(_)));
        assert!(matches!(decide_components(&["clippy"], true, allow), Decision::Install { .. }));
        assert!(matches!(decide_components(&["clippy"], false, allow), Decision::Refuse(_)));
        let refused = decide_components(&["rustfmt", "clippy"], true, InstallPolicy::Refuse("--offline"));
        let Decision::Refuse(text) = refused else { panic!("expected a refusal, found {refused:?}") };
        assert!(text.contains("rustup component add rustfmt clippy"), "{text}");
    }
}
