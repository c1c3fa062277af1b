//! Executes many runs in parallel.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use rayon::ThreadPoolBuilder;

use crate::ValidateError;
use crate::task::{Finished, Task};

/// Executes `tasks` and passes each result on as soon as it is done, with its index. A single job uses all threads;
/// several `jobs` have one thread each and start the longest runs first. `run` executes a run.
pub(crate) fn work(
    tasks: &[(usize, &Task)],
    jobs: usize,
    run: &(dyn Fn(&Task) -> Result<Finished, ValidateError> + Sync),
    done: &mut dyn FnMut(usize, Finished) -> Result<(), ValidateError>,
) -> Result<(), ValidateError> {
    if jobs < 2 {
        return tasks.iter().try_for_each(|(number, task)| done(*number, run(task)?));
    }
    // Taken from the end.
    let mut queue: Vec<(usize, &Task)> = tasks.iter().rev().copied().collect();
    queue.sort_by(|a, b| a.1.cost.total_cmp(&b.1.cost));
    let queue = Mutex::new(queue);
    let (give, take) = channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            let (give, queue) = (give.clone(), &queue);
            scope.spawn(move || {
                let pool = ThreadPoolBuilder::new().num_threads(1).build();
                while let Some((number, task)) = next(queue) {
                    let result = match &pool {
                        Ok(pool) => pool.install(|| run(task)),
                        Err(_) => run(task),
                    };
                    // The receiver is gone after a run that could not be built.
                    if give.send((number, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(give);
        let result = take.iter().try_for_each(|(number, result)| done(number, result?));
        if result.is_err() {
            queue.lock().map(|mut queue| queue.clear()).ok();
        }
        result
    })
}

fn next<'t>(queue: &Mutex<Vec<(usize, &'t Task)>>) -> Option<(usize, &'t Task)> {
    queue.lock().ok()?.pop()
}
