//! Where a program runs, and who made its adapter: what tables and priors are chosen by.
//!
//! Not here: which kernels tables are about (`key`). The build script reads this file, too, so it names nothing of the
//! crate.

use std::fmt;

/// What runs the program: an operating system, or one of the browsers, whose shader compilers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Environment {
    /// A native program.
    Native,
    /// Chrome, and browsers built on Chromium that do not say who they are.
    Chrome,
    /// Microsoft's browser on Chromium.
    Edge,
    /// Firefox.
    Firefox,
    /// Safari, and every browser on iOS.
    Safari,
    /// A browser of which nothing is known.
    Other,
}

impl Environment {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Native, Self::Chrome, Self::Edge, Self::Firefox, Self::Safari, Self::Other];

    /// The name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Chrome => "chrome",
            Self::Edge => "edge",
            Self::Firefox => "firefox",
            Self::Safari => "safari",
            Self::Other => "other",
        }
    }

    /// The environment of this name.
    #[cfg_attr(not(feature = "tune"), allow(dead_code, reason = "only files name environments"))]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|environment| environment.name() == name)
    }

    /// Where this program runs.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn present() -> Self {
        Self::Native
    }

    /// Where this program runs: what `navigator.userAgent` says, in pages and in workers.
    #[cfg(target_arch = "wasm32")]
    pub fn present() -> Self {
        let property = |of: &js_sys::wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(of, &name.into()).ok();
        let navigator = property(&js_sys::global(), "navigator");
        let agent = navigator.and_then(|navigator| property(&navigator, "userAgent")?.as_string());
        agent.map_or(Self::Other, |agent| Self::of_user_agent(&agent))
    }

    /// The browser behind a user agent.
    #[cfg_attr(not(any(test, target_arch = "wasm32")), allow(dead_code, reason = "native programs have none"))]
    fn of_user_agent(agent: &str) -> Self {
        // Every browser on iOS is Safari inside, and most agents name the browsers that they imitate: Edge says Chrome and
        // Safari, Chrome says Safari.
        let named = [
            ("iPhone", Self::Safari),
            ("iPad", Self::Safari),
            ("Edg", Self::Edge),
            ("Firefox/", Self::Firefox),
            ("Chrome/", Self::Chrome),
            ("Chromium/", Self::Chrome),
            ("Safari/", Self::Safari),
        ];
        named.iter().find(|(part, _)| agent.contains(part)).map_or(Self::Other, |(_, environment)| *environment)
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who designed an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vendor {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
    /// Intel.
    Intel,
    /// Apple.
    Apple,
    /// Qualcomm.
    Qualcomm,
    /// Arm.
    Arm,
    /// A rasterizer on the CPU, whoever wrote it.
    Software,
    /// Anyone else.
    Other,
}

impl Vendor {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Nvidia, Self::Amd, Self::Intel, Self::Apple, Self::Qualcomm, Self::Arm, Self::Software, Self::Other];

    /// The name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
            Self::Intel => "intel",
            Self::Apple => "apple",
            Self::Qualcomm => "qualcomm",
            Self::Arm => "arm",
            Self::Software => "software",
            Self::Other => "other",
        }
    }

    /// The vendor of this name, whatever its case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agents_name_their_browser() {
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
        let safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 \
                      Safari/605.1.15";
        let cases = [
            (chrome.to_owned(), Environment::Chrome),
            (format!("{chrome} Edg/141.0.0.0"), Environment::Edge),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0".to_owned(), Environment::Firefox),
            (safari.to_owned(), Environment::Safari),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 CriOS/141.0.0.0 Mobile/15E148 Safari/604.1"
                    .to_owned(),
                Environment::Safari,
            ),
            ("curl/8.0".to_owned(), Environment::Other),
        ];
        for (agent, expected) in cases {
            assert_eq!(Environment::of_user_agent(&agent), expected, "{agent}");
        }
    }

    #[test]
    fn names_lead_back() {
        assert!(Environment::ALL.into_iter().all(|e| Environment::named(e.name()) == Some(e)));
        assert!(Vendor::ALL.into_iter().all(|v| Vendor::named(&v.name().to_uppercase()) == Some(v)));
        assert_eq!((Environment::named("netscape"), Vendor::named("3dfx")), (None, None));
        assert_eq!(Environment::present(), Environment::Native);
    }
}
