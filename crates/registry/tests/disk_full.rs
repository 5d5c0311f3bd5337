//! File systems that are full, or can't be written.
#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/child.rs"]
mod child;
#[path = "support/rows.rs"]
mod rows;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use fingerpost_claims::{Change, ClaimStore, Collection, Commit, Committed, StoreError};
use fingerpost_registry::{Diff, FaultKind, Options, Registry, SqliteStore, StoreOptions, Tables};

use self::child::block_on;
use self::rows::{host, open, path_row, prefix, sample};

/// A small file system in memory.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mount(size: &str) -> Self {
        let at = tempfile::tempdir().unwrap().keep();
        run(
            "mount",
            &["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs", at.to_str().unwrap()],
        );
        Self(at)
    }

    fn read_only(&self) {
        run("mount", &["-o", "remount,ro", self.0.to_str().unwrap()]);
    }

    fn fill(&self) {
        // As much as there is, then the rest.
        for piece in [64 * 1024, 4096, 1] {
            let mut at = 0;
            while fs::write(self.0.join(format!("fill-{piece}-{at}")), vec![1; piece]).is_ok() {
                at += 1;
            }
        }
    }

    fn drain(&self) {
        for entry in fs::read_dir(&self.0).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("fill-") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        run("umount", &["-l", self.0.to_str().unwrap()]);
        fs::remove_dir(&self.0).unwrap();
    }
}

fn run(program: &str, arguments: &[&str]) {
    assert!(Command::new(program).args(arguments).status().unwrap().success(), "{program}");
}

/// Many rows: more than there is room for.
fn many(tables: &Tables, round: usize) -> Tables {
    let mut next = tables.clone();
    for at in 0..20_000 {
        let rows = next.rows.paths.entry(host("many.example")).or_default();
        let row = path_row(&format!("v{round}.example"));
        Arc::make_mut(rows).insert(prefix(&format!("account-{at}")), row);
    }
    next
}

#[test]
#[ignore = "needs root tmpfs: .ci/run registry"]
fn a_full_disk_changes_nothing_in_a_registry() {
    let disk = Tmpfs::mount("1m");
    let path = disk.0.join("registry.db");
    let (mut registry, empty) = open(&path);
    registry.apply(&Diff::between(&empty, &sample())).unwrap();
    let tables = registry.tables().unwrap();
    let before = registry.fingerprint();

    let fault = registry.apply(&Diff::between(&tables, &many(&tables, 1))).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::DiskFull, "{fault}");
    assert!(fault.to_string().contains("registry.db can't grow: no space left"), "{fault}");
    assert_eq!((registry.fingerprint(), registry.tables().unwrap()), (before, tables.clone()));
    assert_eq!(registry.audit().unwrap(), []);

    // Small changes fail too once nothing is left, and work again when there is room.
    disk.fill();
    let mut diff = Diff::default();
    let fault = (0..2000).find_map(|at| {
        let row = Some(path_row(&format!("v{at}.example")));
        diff.rows.paths = vec![(host("many.example"), prefix("a"), row)];
        registry.apply(&diff).err()
    });
    let fault = fault.expect("the disk is full at some point");
    assert_eq!(fault.kind(), FaultKind::DiskFull, "{fault}");
    assert_eq!(registry.audit().unwrap(), []);
    let now = registry.tables().unwrap();
    drop(registry);
    disk.drain();
    let (mut registry, tables) = open(&path);
    assert_eq!(tables, now);
    registry.check_file().unwrap();
    registry.apply(&diff).unwrap();
}

#[test]
#[ignore = "needs root tmpfs: .ci/run registry"]
fn a_full_disk_changes_nothing_in_a_store() {
    let disk = Tmpfs::mount("1m");
    let path = disk.0.join("claims.db");
    let store = SqliteStore::open(&path, &StoreOptions::default()).unwrap();
    let create = |key: String, size| Change::create(Collection::Claims, &key, vec![b'x'; size]);
    let commit =
        |key: String, size| block_on(store.commit(Commit::of(create(key, size)).with_bump()));
    assert!(matches!(commit("small".into(), 10), Ok(Committed::Stored { serial: 1, .. })));
    let full = commit("large".into(), 2 << 20).unwrap_err();
    let StoreError::Unavailable { reason } = full else { panic!("{full:?}") };
    assert!(reason.contains("claims.db can't grow: no space left"), "{reason}");
    assert_eq!(block_on(store.serial()), Ok(1));
    assert_eq!(block_on(store.get(Collection::Claims, "large")), Ok(None));

    disk.fill();
    let stored = (0..2000).take_while(|at| commit(format!("h{at}"), 1000).is_ok()).count();
    assert!(stored < 2000, "the failed commit gave its space back, and the disk is full");
    assert_eq!(block_on(store.serial()), Ok(1 + u64::try_from(stored).unwrap()));
    disk.drain();
    assert!(commit("again".into(), 10).is_ok());
    block_on(store.check_file()).unwrap();
}

#[test]
#[ignore = "needs root tmpfs: .ci/run registry"]
fn no_room_to_create_is_said_and_leaves_nothing() {
    let disk = Tmpfs::mount("1m");
    disk.fill();
    let names = |path: &Path| fs::read_dir(path).unwrap().count();
    let before = names(&disk.0);
    let error = Registry::open(&disk.0.join("registry.db"), &Options::default()).unwrap_err();
    assert_eq!(error.fault(), Some(FaultKind::DiskFull), "{error}");
    assert!(error.to_string().contains("registry.db can't grow"), "{error}");
    assert_eq!(names(&disk.0), before);
}

#[test]
#[ignore = "needs root tmpfs: .ci/run registry"]
fn a_read_only_disk_is_said_to_be_one() {
    let disk = Tmpfs::mount("4m");
    let path = disk.0.join("registry.db");
    drop(open(&path));
    disk.read_only();
    let error = Registry::open(&path, &Options::default()).unwrap_err();
    assert_eq!(error.fault(), Some(FaultKind::ReadOnly), "{error:?}");
    let error = Registry::open(&disk.0.join("new.db"), &Options::default()).unwrap_err();
    assert_eq!(error.fault(), Some(FaultKind::ReadOnly), "{error:?}");
}
