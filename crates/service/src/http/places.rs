//! The connection limit: who is let in, who is closed to make room (load shedding), and the room
//! that is reserved for what must not wait.
//!
//! A client that holds a lock must get its keepalives through however many others come. So when all
//! places are taken, the connection that has been idle for longest is closed. When none is idle,
//! a newcomer gets a reserved place, on which only urgent requests are served, one per connection.

use super::head_timeout::HeadTimer;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Who came only just now may still be about to say what it wants.
const GRACE: Duration = Duration::from_millis(250);

/// Which requests a connection may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Any.
    Usual,
    /// Urgent ones.
    Reserved,
}

/// All places, and who has them.
#[derive(Debug)]
pub struct Places {
    usual: usize,
    reserved: usize,
    /// Who is idle for less than this is left alone while there is a reserve.
    grace: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    taken: BTreeMap<u64, Taken>,
}

#[derive(Debug)]
struct Taken {
    room: Room,
    timer: HeadTimer,
    evicted: Arc<Notify>,
}

/// The place of one connection, free again when dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    number: u64,
    /// Which requests it may make.
    pub room: Room,
    /// What the connection is doing.
    pub timer: HeadTimer,
    evicted: Arc<Notify>,
}

impl Places {
    /// So many places, and so many more for what is urgent.
    pub fn new(usual: usize, reserved: usize) -> Arc<Self> {
        Arc::new(Self { usual, reserved, grace: GRACE, open: Mutex::default() })
    }

    /// A place for a connection that was just made; none if all are busy.
    pub fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.lock();
        let rooms = [
            (Room::Usual, self.usual, self.grace),
            (Room::Reserved, self.reserved, Duration::ZERO),
        ];
        for (room, most, grace) in rooms {
            if open.count(room) < most || open.evict(room, grace) {
                return Some(self.seat(&mut open, room));
            }
        }
        None
    }

    /// How many connections have a place in this room, and how many could.
    pub fn open(&self, room: Room) -> (usize, usize) {
        let most = match room {
            Room::Usual => self.usual,
            Room::Reserved => self.reserved,
        };
        (self.lock().count(room), most)
    }

    fn seat(self: &Arc<Self>, open: &mut Open, room: Room) -> Place {
        let timer = HeadTimer::new();
        let evicted = Arc::new(Notify::new());
        let number = open.next;
        open.next += 1;
        let taken = Taken { room, timer: timer.clone(), evicted: Arc::clone(&evicted) };
        open.taken.insert(number, taken);
        Place { places: Arc::clone(self), number, room, timer, evicted }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn count(&self, room: Room) -> usize {
        self.taken.values().filter(|taken| taken.room == room).count()
    }

    /// Closes the connection in this room that has been idle for longest, if one has for so long.
    fn evict(&mut self, room: Room, idle_min: Duration) -> bool {
        let here = self.taken.iter().filter(|(_, taken)| taken.room == room);
        let idle = here.filter_map(|(number, taken)| Some((taken.timer.idle()?, *number)));
        let Some((_, number)) = idle.filter(|(idle, _)| *idle >= idle_min).max() else {
            return false;
        };
        if let Some(taken) = self.taken.remove(&number) {
            taken.evicted.notify_one();
        }
        true
    }
}

impl Place {
    /// Returns when somebody else needs the place more.
    pub async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().taken.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_evicted(place: &Place) -> bool {
        !place.places.lock().taken.contains_key(&place.number)
    }

    fn places(usual: usize, reserved: usize, grace: Duration) -> Arc<Places> {
        Arc::new(Places { usual, reserved, grace, open: Mutex::default() })
    }

    #[test]
    fn the_longest_idle_gives_way_and_nobody_who_is_served() {
        let places = places(3, 0, Duration::ZERO);
        let entered = [(); 3].map(|()| places.enter().expect("room"));
        entered[0].timer.serving(false);
        let next = places.enter().expect("somebody is idle");
        assert_eq!(entered.each_ref().map(is_evicted), [false, true, false]);
        drop(entered);
        assert!(!is_evicted(&next), "who left late took nobody along");
    }

    #[test]
    fn who_came_just_now_is_left_alone() {
        let places = places(1, 1, Duration::MAX);
        let first = places.enter().expect("room");
        assert_eq!(places.enter().map(|place| place.room), Some(Room::Reserved));
        assert!(!is_evicted(&first));
    }

    #[test]
    fn what_is_urgent_finds_room_among_the_busy() {
        let places = places(1, 2, Duration::ZERO);
        let busy = places.enter().expect("room");
        busy.timer.serving(false);
        let urgent = [(); 2].map(|()| places.enter().expect("a reserve"));
        assert!(urgent.iter().all(|place| place.room == Room::Reserved));
        urgent[1].timer.serving(false);
        let next = places.enter().expect("the idle one gives way");
        assert_eq!(urgent.each_ref().map(is_evicted), [true, false]);
        next.timer.serving(false);
        assert!(places.enter().is_none(), "all are busy");
        drop(busy);
        assert_eq!(places.enter().map(|place| place.room), Some(Room::Usual));
    }
}
