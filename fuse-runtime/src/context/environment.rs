//! Program environment and adapter vendor, which choose tables and priors.
//!
//! Not here: names of kernels in tables (`plan::key`). The build script compiles this file, too.

use std::fmt;

/// Host of the program: native, or a browser with its own shader compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Environment {
    /// A native program.
    Native,
    /// Chrome, and browsers on Chromium that do not identify themselves.
    Chrome,
    /// Microsoft's browser on Chromium.
    Edge,
    /// Firefox.
    Firefox,
    /// Safari, and all browsers on iOS.
    Safari,
    /// An unknown browser.
    Other,
}

impl Environment {
    /// All environments.
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

    #[cfg_attr(not(feature = "tune"), allow(dead_code, reason = "only files name environments"))]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|environment| environment.name() == name)
    }

    /// The environment of this program.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn present() -> Self {
        Self::Native
    }

    /// The environment of this program, from the browser's own words, in pages and workers.
    #[cfg(target_arch = "wasm32")]
    pub fn present() -> Self {
        let (agent, brands) = crate::context::browser::identity::user_agent();
        Self::of_browser(&agent, &brands)
    }

    /// Environment by user agent and client hint brands. Only Chromium has these, true even if the agent is changed.
    #[cfg_attr(not(any(test, target_arch = "wasm32")), allow(dead_code, reason = "native programs have none"))]
    pub(crate) fn of_browser(agent: &str, brands: &[String]) -> Self {
        let named = |name: &str| brands.iter().any(|brand| brand == name);
        if named("Microsoft Edge") {
            Self::Edge
        } else if named("Chromium") {
            Self::Chrome
        } else {
            Self::of_user_agent(agent)
        }
    }

    #[cfg_attr(not(any(test, target_arch = "wasm32")), allow(dead_code, reason = "native programs have none"))]
    fn of_user_agent(agent: &str) -> Self {
        // All browsers on iOS are Safari inside. Edge's agent names Chrome and Safari, Chrome's names Safari.
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

/// Designer of an adapter.
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
    /// A rasterizer on the CPU, from anyone.
    Software,
    /// Another vendor.
    Other,
}

impl Vendor {
    /// All vendors.
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

    /// The vendor, ignoring case.
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

    const CHROME: &str = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0";
    const SAFARI: &str = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

    /// Hand-written: platform, engine, and suffix.
    const AGENTS: &[(Environment, &str, &str, &str)] = &[
        (Environment::Chrome, "Windows NT 10.0; Win64; x64", CHROME, "Safari/537.36"),
        (Environment::Chrome, "Macintosh; Intel Mac OS X 10_15_7", CHROME, "Safari/537.36"),
        (Environment::Chrome, "X11; Linux x86_64", CHROME, "Safari/537.36"),
        (Environment::Chrome, "X11; CrOS x86_64 14541.0.0", CHROME, "Safari/537.36"),
        (Environment::Chrome, "Linux; Android 10; K", CHROME, "Mobile Safari/537.36"),
        (
            Environment::Chrome,
            "X11; Linux x86_64",
            "AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0",
            "Safari/537.36",
        ),
        // Opera, Vivaldi, Yandex, Samsung Internet, Electron, Android's WebView.
        (Environment::Chrome, "Windows NT 10.0; Win64; x64", CHROME, "Safari/537.36 OPR/122.0.0.0"),
        (Environment::Chrome, "X11; Linux x86_64", CHROME, "Safari/537.36 Vivaldi/7.6.3797.58"),
        (Environment::Chrome, "Windows NT 10.0; Win64; x64", CHROME, "YaBrowser/25.8.0.0 Safari/537.36"),
        (
            Environment::Chrome,
            "Linux; Android 10; K",
            "AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0",
            "Mobile Safari/537.36",
        ),
        (Environment::Chrome, "X11; Linux x86_64", CHROME, "Electron/38.2.2 Safari/537.36"),
        (Environment::Chrome, "Linux; Android 15; Pixel 9; wv", CHROME, "Mobile Safari/537.36"),
        (Environment::Edge, "Windows NT 10.0; Win64; x64", CHROME, "Safari/537.36 Edg/141.0.0.0"),
        (Environment::Edge, "Macintosh; Intel Mac OS X 10_15_7", CHROME, "Safari/537.36 Edg/141.0.0.0"),
        (Environment::Edge, "Linux; Android 10; K", CHROME, "Mobile Safari/537.36 EdgA/141.0.0.0"),
        (Environment::Firefox, "Windows NT 10.0; Win64; x64; rv:144.0", "Gecko/20100101", "Firefox/144.0"),
        (Environment::Firefox, "Macintosh; Intel Mac OS X 10.15; rv:144.0", "Gecko/20100101", "Firefox/144.0"),
        (Environment::Firefox, "X11; Linux x86_64; rv:140.0", "Gecko/20100101", "Firefox/140.0"),
        (Environment::Firefox, "Android 15; Mobile; rv:144.0", "Gecko/144.0", "Firefox/144.0"),
        (Environment::Safari, "Macintosh; Intel Mac OS X 10_15_7", SAFARI, "Version/26.0 Safari/605.1.15"),
        (
            Environment::Safari,
            "iPhone; CPU iPhone OS 18_7 like Mac OS X",
            SAFARI,
            "Version/26.0 Mobile/15E148 Safari/604.1",
        ),
        (Environment::Safari, "iPad; CPU OS 18_7 like Mac OS X", SAFARI, "Version/26.0 Mobile/15E148 Safari/604.1"),
        // Chrome, Edge and Firefox on iOS are Safari inside, as are pages of applications.
        (
            Environment::Safari,
            "iPhone; CPU iPhone OS 26_0 like Mac OS X",
            SAFARI,
            "CriOS/141.0.0.0 Mobile/15E148 Safari/604.1",
        ),
        (
            Environment::Safari,
            "iPhone; CPU iPhone OS 18_7 like Mac OS X",
            SAFARI,
            "Version/18.0 EdgiOS/141.0.0.0 Mobile/15E148 Safari/604.1",
        ),
        (Environment::Safari, "iPad; CPU OS 18_7 like Mac OS X", SAFARI, "FxiOS/144.0 Mobile/15E148 Safari/605.1.15"),
        (Environment::Safari, "iPhone; CPU iPhone OS 18_7 like Mac OS X", SAFARI, "Mobile/15E148"),
    ];

    #[test]
    fn user_agents_name_their_browser() {
        for (expected, platform, engine, rest) in AGENTS {
            let agent = format!("Mozilla/5.0 ({platform}) {engine} {rest}");
            assert_eq!(Environment::of_browser(&agent, &[]), *expected, "{agent}");
        }
        for agent in ["", "curl/8.0", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"] {
            assert_eq!(Environment::of_browser(agent, &[]), Environment::Other, "{agent}");
        }
    }

    #[test]
    fn client_hints_say_more_than_user_agents() {
        let browser = |brands: &[&str], agent: &str| {
            Environment::of_browser(agent, &brands.iter().map(|brand| (*brand).to_owned()).collect::<Vec<_>>())
        };
        let imitation = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let chrome = ["Google Chrome", "Not?A_Brand", "Chromium"];
        assert_eq!(browser(&chrome, imitation), Environment::Chrome);
        assert_eq!(browser(&["Chromium", "Brave", "Not/A)Brand"], ""), Environment::Chrome);
        assert_eq!(browser(&["Not;A=Brand", "Microsoft Edge", "Chromium"], ""), Environment::Edge);
        assert_eq!(browser(&["Not;A=Brand"], imitation), Environment::Firefox, "a brand that says nothing");
    }

    #[test]
    fn names_lead_back() {
        assert!(Environment::ALL.into_iter().all(|e| Environment::named(e.name()) == Some(e)));
        assert!(Vendor::ALL.into_iter().all(|v| Vendor::named(&v.name().to_uppercase()) == Some(v)));
        assert_eq!((Environment::named("netscape"), Vendor::named("3dfx")), (None, None));
        assert_eq!(Environment::present(), Environment::Native);
    }
}
