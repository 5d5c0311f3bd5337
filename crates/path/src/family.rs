//! The ways in which backends are known to read a path.

use std::fmt;
use std::ops::BitOr;
use std::str::FromStr;

/// A set of candidate families; the base candidates are always there.
///
/// | family | what a backend of this kind does before it looks at the first segment |
/// |---|---|
/// | [`MERGE`](Self::MERGE) | skips empty segments |
/// | [`DOTS`](Self::DOTS) | removes dot segments, before or after decoding, merging slashes or not |
/// | [`CUT`](Self::CUT) | ends the segment at the first byte outside the site's slug |
/// | [`PARAMS`](Self::PARAMS) | drops `;...` from every segment |
/// | [`BSLASH`](Self::BSLASH) | reads `\` (also encoded) as `/` |
/// | [`AUTH`](Self::AUTH) | reads a leading `//x` as an authority |
/// | [`DOUBLE`](Self::DOUBLE) | decodes up to two more times |
/// | [`FRONTC`](Self::FRONTC) | drops a front controller: everything up to the first `.php` |
/// | [`QUERY`](Self::QUERY) | routes on a query parameter |
/// | [`NEXTDATA`](Self::NEXTDATA) | drops `/_next/data/<build>` |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Families(u16);

impl Families {
    /// The base candidates alone.
    pub const BASE: Self = Self(0);
    /// Empty segments are skipped.
    pub const MERGE: Self = Self(1);
    /// Dot segments are removed.
    pub const DOTS: Self = Self(1 << 1);
    /// A segment ends at the first byte outside the slug.
    pub const CUT: Self = Self(1 << 2);
    /// Path parameters are dropped.
    pub const PARAMS: Self = Self(1 << 3);
    /// A backslash is a slash.
    pub const BSLASH: Self = Self(1 << 4);
    /// A leading `//x` is an authority.
    pub const AUTH: Self = Self(1 << 5);
    /// The path is decoded up to three times in all.
    pub const DOUBLE: Self = Self(1 << 6);
    /// A front controller is dropped.
    pub const FRONTC: Self = Self(1 << 7);
    /// A query parameter is a path; see [`Rules::with_query`](crate::Rules::with_query).
    pub const QUERY: Self = Self(1 << 8);
    /// The data route of Next.js is dropped.
    pub const NEXTDATA: Self = Self(1 << 9);

    const NAMES: [(Self, &'static str); 10] = [
        (Self::MERGE, "merge"),
        (Self::DOTS, "dots"),
        (Self::CUT, "cut"),
        (Self::PARAMS, "params"),
        (Self::BSLASH, "bslash"),
        (Self::AUTH, "auth"),
        (Self::DOUBLE, "double"),
        (Self::FRONTC, "frontc"),
        (Self::QUERY, "query"),
        (Self::NEXTDATA, "nextdata"),
    ];

    /// Tells whether every family of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of the families, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let in_it = Self::NAMES.iter().filter(move |(family, _)| self.contains(*family));
        in_it.map(|(_, name)| *name)
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOr for Families {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl fmt::Debug for Families {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// A named set of families: the stack that runs behind the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Servers that merge slashes and resolve dot segments, nothing more.
    Generic,
    /// Rails, Grape, Rack.
    Rails,
    /// Sinatra and what else reads a backslash as a slash.
    Sinatra,
    /// Servlet containers: Tomcat, Jetty, Spring, Jersey.
    Servlet,
    /// PHP behind any web server, front controllers included.
    Php,
    /// Servers that parse with the WHATWG URL rules.
    Whatwg,
    /// Next.js.
    Nextjs,
    /// Routers that ignore case; the same families as `rails`.
    Nocase,
    /// restify and its relatives.
    Restify,
    /// .NET.
    Dotnet,
    /// WSGI and ASGI servers, and Perl's PSGI.
    Python,
    /// Every family but `query`: the default for a backend that nobody has named.
    Any,
}

impl Preset {
    /// Every preset, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Generic,
        Self::Rails,
        Self::Sinatra,
        Self::Servlet,
        Self::Php,
        Self::Whatwg,
        Self::Nextjs,
        Self::Nocase,
        Self::Restify,
        Self::Dotnet,
        Self::Python,
        Self::Any,
    ];

    /// The name that a configuration uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Rails => "rails",
            Self::Sinatra => "sinatra",
            Self::Servlet => "servlet",
            Self::Php => "php",
            Self::Whatwg => "whatwg",
            Self::Nextjs => "nextjs",
            Self::Nocase => "nocase",
            Self::Restify => "restify",
            Self::Dotnet => "dotnet",
            Self::Python => "python",
            Self::Any => "any",
        }
    }

    /// The families that the preset stands for.
    #[must_use]
    pub const fn families(self) -> Families {
        use Families as F;
        let generic = F::MERGE.union(F::DOTS);
        let rails = generic.union(F::CUT);
        match self {
            Self::Generic => generic,
            Self::Rails | Self::Nocase => rails,
            Self::Sinatra => rails.union(F::BSLASH),
            Self::Servlet => rails.union(F::PARAMS),
            Self::Php => rails.union(F::BSLASH).union(F::AUTH).union(F::DOUBLE).union(F::FRONTC),
            Self::Whatwg => generic.union(F::BSLASH).union(F::AUTH),
            Self::Nextjs => rails.union(F::NEXTDATA),
            Self::Restify => rails.union(F::PARAMS).union(F::BSLASH).union(F::AUTH),
            Self::Dotnet => rails.union(F::BSLASH).union(F::DOUBLE),
            Self::Python => rails.union(F::AUTH),
            Self::Any => rails
                .union(F::PARAMS)
                .union(F::BSLASH)
                .union(F::AUTH)
                .union(F::DOUBLE)
                .union(F::FRONTC)
                .union(F::NEXTDATA),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    /// Finds a preset by its name.
    ///
    /// # Errors
    /// [`UnknownPreset`] when no preset has this name.
    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or(UnknownPreset)
    }
}

/// No preset has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a preset; presets are: generic, rails, sinatra, servlet, php, whatwg, nextjs, nocase, restify, dotnet, python, any"
)]
pub struct UnknownPreset;
