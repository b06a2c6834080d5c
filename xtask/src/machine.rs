//! Facts about this machine, as plain data for `prerequisites`, which decides.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// As `std::env::consts::OS`.
    pub(crate) os: &'static str,
    /// `ID` and `ID_LIKE` of `/etc/os-release`, nearest first; empty outside Linux.
    pub(crate) distributions: Vec<String>,
    pub(crate) vulkan: Vulkan,
    /// Variables that restrict the Vulkan loader's drivers.
    pub(crate) driver_overrides: Vec<&'static str>,
    pub(crate) root: bool,
    pub(crate) sudo: bool,
    pub(crate) apt_get: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Vulkan {
    NoLoader,
    /// No driver with a device.
    NoAdapter,
    Adapters(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Python {
    Missing,
    /// Has no module pip.
    WithoutPip(&'static str),
    /// Has the module pip.
    WithPip(&'static str),
}

impl Python {
    pub(crate) fn probe() -> Self {
        let runs = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let names = ["python3", "python"];
        let with_pip = names.into_iter().find(|name| runs(name, &["-m", "pip", "--version"])).map(Self::WithPip);
        let without = || names.into_iter().find(|name| runs(name, &["--version"])).map(Self::WithoutPip);
        with_pip.or_else(without).unwrap_or(Self::Missing)
    }
}

impl Machine {
    pub(crate) fn probe() -> Self {
        Self {
            os: env::consts::OS,
            distributions: distributions(&std::fs::read_to_string("/etc/os-release").unwrap_or_default()),
            vulkan: probe_vulkan(),
            driver_overrides: ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
                .into_iter()
                .filter(|name| env::var_os(name).is_some())
                .collect(),
            root: is_root(),
            sudo: find_program("sudo").is_some(),
            apt_get: find_program("apt-get").is_some(),
        }
    }
}

/// `ID`, then those of `ID_LIKE`.
fn distributions(os_release: &str) -> Vec<String> {
    let value = |key: &str| {
        os_release
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim_matches(['"', '\'']))
            .unwrap_or_default()
    };
    format!("{} {}", value("ID"), value("ID_LIKE")).split_whitespace().map(str::to_owned).collect()
}

/// Description files prove nothing: Mesa installs those of every vendor.
fn probe_vulkan() -> Vulkan {
    // SAFETY: loading the system's Vulkan loader runs its initializers, which have no preconditions.
    let Ok(entry) = (unsafe { ash::Entry::load() }) else { return Vulkan::NoLoader };
    // SAFETY: the default create info is valid: no layers, no extensions, Vulkan 1.0.
    let Ok(instance) = (unsafe { entry.create_instance(&ash::vk::InstanceCreateInfo::default(), None) }) else {
        return Vulkan::NoAdapter;
    };
    // SAFETY: the instance is alive until it is destroyed below, and no handle outlives it.
    let names = unsafe {
        let devices = instance.enumerate_physical_devices().unwrap_or_default();
        let name = |&device| {
            let properties = instance.get_physical_device_properties(device);
            properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned()
        };
        let names: Vec<String> = devices.iter().map(name).collect();
        instance.destroy_instance(None);
        names
    };
    if names.is_empty() { Vulkan::NoAdapter } else { Vulkan::Adapters(names) }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_nearest_first() {
        assert_eq!(distributions("PRETTY_NAME=\"Debian\"\nID=debian\n"), ["debian"]);
        assert_eq!(distributions("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), ["linuxmint", "ubuntu", "debian"]);
        assert!(distributions("").is_empty());
    }

    #[test]
    fn programs_are_found_on_the_search_path() {
        assert!(find_program("cargo").is_some());
        assert_eq!(find_program("no-program-has-this-name"), None);
    }
}
