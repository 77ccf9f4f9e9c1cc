//! The models that are served: found in files and folders, swapped while requests run, shared between those who ask.

mod load;
mod places;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use mercer::Exec;

pub use load::Served;
pub use places::Place;
use places::{Found, Stamp};

use crate::error::Refusal;

/// What is counted for each name, over all its versions.
#[derive(Debug, Default)]
pub struct Stats {
    /// Requests that were computed.
    pub requests: AtomicU64,
    /// Their rows.
    pub rows: AtomicU64,
    /// Requests that the model refused.
    pub failures: AtomicU64,
    /// Matrix products into which requests were gathered.
    pub batches: AtomicU64,
}

/// All versions of a model under one name.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The versions by their names.
    pub versions: BTreeMap<String, Arc<Served>>,
    /// The one that predicts where nobody asks for a version; none after an unload or before a first good file.
    pub latest: Option<Arc<Served>>,
    /// What is wrong with a file of this model that is not served.
    pub problem: Option<String>,
    /// What is counted.
    pub stats: Arc<Stats>,
}

type Entries = BTreeMap<String, Arc<Entry>>;

/// The models of a server.
#[derive(Debug)]
pub struct Registry {
    places: Vec<Place>,
    exec: Exec,
    entries: RwLock<Arc<Entries>>,
    /// One look at the files at a time.
    look: Mutex<Look>,
}

/// What the last look at the files saw.
#[derive(Debug, Default)]
struct Look {
    seen: HashMap<PathBuf, Seen>,
    unloaded: Vec<String>,
    /// What was wrong the last time: it is said once, not every second.
    complaint: Option<String>,
}

/// A file as it was read.
#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    /// Whether another change could have the same stamp: it is read once more.
    fresh: bool,
    result: Result<Arc<Served>, String>,
}

impl Registry {
    /// Loads what there is. Fails where a file that was named cannot be served, or where two have one name.
    pub fn open(places: Vec<Place>, exec: Exec) -> Result<Self, mercer::Error> {
        let registry = Registry { places, exec, entries: RwLock::default(), look: Mutex::default() };
        let mut look = registry.look.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names: HashMap<String, PathBuf> = HashMap::new();
        for found in places::find(&registry.places)? {
            if let Some(other) = names.insert(found.key(), found.path.clone()) {
                return Err(mercer::Error::param(
                    "name of a model",
                    format!("`{}` of {} and of {}", found.name, other.display(), found.path.display()),
                    "of one model; NAME=FILE gives another name",
                ));
            }
            if found.asked {
                let fresh = found.stamp.is_fresh(SystemTime::now());
                let served = load::load(&found, registry.exec, &look.loaded())?;
                look.seen.insert(found.path.clone(), Seen { stamp: found.stamp, fresh, result: Ok(served) });
            }
        }
        registry.refresh(&mut look);
        drop(look);
        Ok(registry)
    }

    /// Looks for changed files and loads them. What cannot be loaded leaves the version of before in place.
    pub fn look_again(&self) {
        self.refresh(&mut self.look.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn refresh(&self, look: &mut Look) {
        let all = match places::find(&self.places) {
            Ok(all) => all,
            Err(error) => {
                look.complain(Some(format!("{error}; the previous models stay in place")));
                return;
            }
        };
        let lost = |served: &Arc<Served>| self.places.iter().any(|place| place.has_lost(&served.path));
        let old = self.entries();
        look.complain(
            old.values()
                .flat_map(|entry| entry.versions.values())
                .find(|served| lost(served))
                .map(|served| format!("{} is gone; its models are still served", served.path.display())),
        );
        let mut new = Entries::new();
        let mut keys: HashMap<String, &PathBuf> = HashMap::new();
        // Of two files with one name the one that is served stays.
        let is_new = |found: &&Found| {
            let before = old.get(&found.name);
            !before.is_some_and(|entry| entry.versions.values().any(|served| served.path == found.path))
        };
        let mut in_order: Vec<&Found> = all.iter().collect();
        in_order.sort_by_key(is_new);
        for found in in_order {
            if let Some(other) = keys.get(&found.key()) {
                let entry = new.get_mut(&found.name).map(Arc::make_mut);
                if let Some(problem) = entry.map(|entry| &mut entry.problem) {
                    let (one, two) = (other.display(), found.path.display());
                    *problem = Some(format!("{one} and {two} have one name: the second is not served"));
                }
                continue;
            }
            keys.insert(found.key(), &found.path);
            let known = look.seen.get(&found.path).filter(|seen| seen.stamp == found.stamp && !seen.fresh);
            let result = match known {
                Some(seen) => seen.result.clone(),
                None => self.read(look, found),
            };
            let before = old.get(&found.name);
            let entry = new.entry(found.name.clone()).or_insert_with(|| {
                let stats = before.map_or_else(Arc::default, |entry| Arc::clone(&entry.stats));
                Arc::new(Entry { versions: BTreeMap::new(), latest: None, problem: None, stats })
            });
            let entry = Arc::make_mut(entry);
            match result {
                Ok(served) => entry.take(served),
                Err(why) => {
                    entry.problem = Some(why);
                    // The version of before, of the same file.
                    let same = before.and_then(|e| e.versions.values().find(|s| s.path == found.path));
                    if let Some(served) = same {
                        entry.take(Arc::clone(served));
                    }
                }
            }
        }
        // A file that was named and is gone for now: what it held stays.
        for (name, entry) in old.iter() {
            let asked = self.places.iter().any(|place| place.is_named(name));
            let gone = if asked { "file" } else { "folder" };
            if !new.contains_key(name) && (asked || entry.versions.values().any(lost)) {
                let problem = Some(format!("the {gone} is gone; its models are still served"));
                new.insert(name.clone(), Arc::new(Entry { problem, ..Entry::clone(entry) }));
            }
        }
        for name in &look.unloaded {
            if let Some(entry) = new.get_mut(name) {
                let entry = Arc::make_mut(entry);
                entry.versions.clear();
                entry.latest = None;
            }
        }
        let lost = |path: &PathBuf| self.places.iter().any(|place| place.has_lost(path));
        look.seen.retain(|path, _| all.iter().any(|found| found.path == *path) || lost(path));
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
    }

    /// Reads a file, and says so where it holds something new.
    fn read(&self, look: &mut Look, found: &Found) -> Result<Arc<Served>, String> {
        let fresh = found.stamp.is_fresh(SystemTime::now());
        let mut result = load::load(found, self.exec, &look.loaded()).map_err(|e| e.to_string());
        let before = look.seen.remove(&found.path).map(|seen| seen.result);
        match (&result, before) {
            (Ok(served), Some(Ok(old))) if served.digest == old.digest && served.version == old.version => {
                result = Ok(old);
            }
            (Err(why), Some(Err(old))) if *why == old => {}
            (Ok(served), _) => {
                let (version, kind) = (&served.version, served.model.kind());
                tracing::info!(model = found.name, version, kind, "loaded");
            }
            (Err(why), _) => tracing::warn!(model = found.name, "not loaded: {why}"),
        }
        look.seen.insert(found.path.clone(), Seen { stamp: found.stamp, fresh, result: result.clone() });
        result
    }

    /// All models as they are now.
    pub fn entries(&self) -> Arc<Entries> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A model by name and version, with what is counted for it.
    pub fn find(&self, name: &str, version: Option<&str>) -> Result<(Arc<Served>, Arc<Stats>), Refusal> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = entries.get(name) else {
            return Err(Refusal::missing(format!(
                "no model `{name}`; GET /v2/repository/index lists the models"
            )));
        };
        let found = match version {
            None => entry.latest.as_ref(),
            Some(version) => entry.versions.get(version),
        };
        match (found, version, &entry.problem) {
            (Some(served), ..) => Ok((Arc::clone(served), Arc::clone(&entry.stats))),
            (None, Some(version), _) => {
                Err(Refusal::missing(format!("model `{name}` has no version `{version}`")))
            }
            (None, None, Some(why)) => Err(Refusal::missing(format!("model `{name}` is not loaded: {why}"))),
            (None, None, None) => Err(Refusal::missing(format!("model `{name}` is unloaded"))),
        }
    }

    /// Loads a model, again if it is loaded.
    pub fn load(&self, name: &str) -> Result<(), Refusal> {
        let mut look = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        look.unloaded.retain(|unloaded| unloaded != name);
        let here: Vec<PathBuf> = match places::find(&self.places) {
            Ok(all) => all.into_iter().filter(|found| found.name == name).map(|found| found.path).collect(),
            Err(error) => return Err(error.into()),
        };
        if here.is_empty() {
            return Err(Refusal::missing(format!(
                "no file of a model `{name}` among the files that are served"
            )));
        }
        here.iter().for_each(|path| drop(look.seen.remove(path)));
        self.refresh(&mut look);
        match self.entries().get(name).and_then(|entry| entry.problem.clone()) {
            Some(why) => Err(Refusal::bad(format!("model `{name}` is not loaded: {why}"))),
            None => Ok(()),
        }
    }

    /// Takes a model out of service until it is loaded again. Requests that have it finish.
    pub fn unload(&self, name: &str) -> Result<(), Refusal> {
        let mut look = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.entries().contains_key(name) {
            return Err(Refusal::missing(format!("no model `{name}`")));
        }
        if !look.unloaded.iter().any(|unloaded| unloaded == name) {
            look.unloaded.push(name.to_owned());
        }
        self.refresh(&mut look);
        tracing::info!(model = name, "unloaded");
        Ok(())
    }

    /// Looks at the files from time to time, until the function says that it is enough.
    pub fn watch(&self, every: Duration, enough: impl Fn() -> bool) {
        let step = Duration::from_millis(100).min(every);
        let mut looked = Instant::now();
        while !enough() {
            std::thread::sleep(step);
            if looked.elapsed() >= every {
                self.look_again();
                looked = Instant::now();
            }
        }
    }
}

impl Entry {
    /// One more version; the last in order predicts where nobody asks for one.
    fn take(&mut self, served: Arc<Served>) {
        if self.latest.as_ref().is_none_or(|latest| latest.number <= served.number) {
            self.latest = Some(Arc::clone(&served));
        }
        self.versions.insert(served.version.clone(), served);
    }
}

impl Look {
    fn complain(&mut self, complaint: Option<String>) {
        if let Some(why) = complaint.as_ref().filter(|_| complaint != self.complaint) {
            tracing::warn!("{why}");
        }
        self.complaint = complaint;
    }

    /// The models that are in memory: equal files share one.
    fn loaded(&self) -> Vec<Arc<Served>> {
        self.seen.values().filter_map(|seen| seen.result.as_ref().ok().cloned()).collect()
    }
}

impl Found {
    fn key(&self) -> String {
        format!("{}/{}", self.name, self.number.map_or_else(String::new, |n| n.to_string()))
    }
}
