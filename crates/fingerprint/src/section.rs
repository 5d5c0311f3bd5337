//! The kinds of rows that a fingerprint covers.

/// A kind of row. Rows of two sections never digest alike, whatever their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Section {
    /// Path routes of hosts, and shared ones.
    Routes,
    /// Pools of upstream servers.
    Fleets,
    /// The servers of those pools.
    FleetBoxes,
    /// Hosts that point at another host's site.
    RouteAliases,
    /// Hosts whose subdomains are claimed.
    WildcardDomains,
    /// Prefix maps.
    RoutePaths,
    /// Options of host patterns.
    Sites,
}

impl Section {
    /// All sections, in order.
    pub const ALL: [Self; 7] = [
        Self::Routes,
        Self::Fleets,
        Self::FleetBoxes,
        Self::RouteAliases,
        Self::WildcardDomains,
        Self::RoutePaths,
        Self::Sites,
    ];

    /// The name of the section, which is the name of its table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Routes => "routes",
            Self::Fleets => "fleets",
            Self::FleetBoxes => "fleet_boxes",
            Self::RouteAliases => "route_aliases",
            Self::WildcardDomains => "wildcard_domains",
            Self::RoutePaths => "route_paths",
            Self::Sites => "sites",
        }
    }

    /// Returns the section of a [`name`](Self::name).
    ///
    /// ```
    /// use fingerpost_fingerprint::Section;
    /// assert_eq!(Section::from_name("route_paths"), Some(Section::RoutePaths));
    /// assert_eq!(Section::from_name("usage"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }

    /// What stands for the section in an encoding. Part of the version: never renumbered.
    #[must_use]
    pub const fn marker(self) -> u64 {
        match self {
            Self::Routes => 1,
            Self::Fleets => 2,
            Self::FleetBoxes => 3,
            Self::RouteAliases => 4,
            Self::WildcardDomains => 5,
            Self::RoutePaths => 6,
            Self::Sites => 7,
        }
    }
}
