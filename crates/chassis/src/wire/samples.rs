//! Values of the model for round-trip tests, from a seed, with the bits that encodings lose: both
//! zeros, subnormals, infinities, extremes.

use machine::Advanced;
use model::{
    CLASSES_MAX, COLUMNS_MAX, Calls, EdgeId, Grant, Inbox, InstanceId, Motion, Need, Noise, Outbox,
    ParamValue, Params, PerClass, Report, Resolution, Tick,
};
use telemetry::Change;

pub(crate) struct Samples {
    noise: Noise,
    drawn: i64,
}

impl Samples {
    pub(crate) fn new(seed: u64) -> Samples {
        Samples { noise: Noise::root(seed).branch("samples"), drawn: 0 }
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.drawn += 1;
        self.noise.bits(self.drawn)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.bits() & 1 == 1
    }

    pub(crate) fn number(&mut self) -> f64 {
        const EDGY: [f64; 7] =
            [0.0, -0.0, f64::MIN_POSITIVE / 8.0, f64::INFINITY, -1.0, f64::MAX, 1e-12];
        match self.bits() % 16 {
            at @ 0..7 => EDGY[at as usize],
            _ => (self.bits() >> 11) as f64 / 1e9,
        }
    }

    pub(crate) fn text(&mut self) -> String {
        ["", "restart", "größer", "a\nb"][(self.bits() % 4) as usize].to_string()
    }

    pub(crate) fn params(&mut self) -> Params {
        let mut params = Params::default();
        for name in ["a", "b", "c"] {
            let value = match self.bits() % 4 {
                0 => ParamValue::Flag(self.flag()),
                1 => ParamValue::Number(self.number()),
                2 => ParamValue::Text(self.text()),
                _ => continue,
            };
            params.0.insert(name.into(), value);
        }
        params
    }

    fn list<T>(&mut self, mut make: impl FnMut(&mut Samples) -> T) -> Vec<T> {
        (0..self.bits() % 4).map(|_| make(self)).collect()
    }

    fn array<const N: usize>(&mut self) -> [f64; N] {
        let used = (self.bits() as usize) % (N + 1);
        let mut array = [0.0; N];
        array[..used].iter_mut().for_each(|value| *value = self.number());
        array
    }

    fn per_class(&mut self) -> PerClass {
        self.array::<CLASSES_MAX>()
    }

    fn calls(&mut self) -> Calls {
        Calls {
            edge: EdgeId(self.bits() as u16),
            rate: self.per_class(),
            in_flight_cap: self.number(),
            elsewhere_s: self.number(),
            timeout_s: self.number(),
            idle: self.number(),
            deadline: self.flag(),
        }
    }

    fn report(&mut self) -> Report {
        Report {
            ok_mean_s: self.number(),
            ok_var_s2: self.number(),
            fail_mean_s: self.number(),
            fail_var_s2: self.number(),
            refused: self.number(),
            turned_away: self.per_class(),
            failed: self.per_class(),
            overdue: self.per_class(),
            refusal: self.number(),
            path_s: self.number(),
            capacity: self.number(),
            servers: self.number(),
            unloaded_s: self.number(),
            places: self.number(),
            in_time: self.number(),
            class_mean_s: self.per_class(),
            class_var_s2: self.per_class(),
            offered: self.number(),
        }
    }

    fn grant(&mut self) -> Grant {
        Grant {
            instance: InstanceId(self.bits() as u16),
            group: self.bits() as u8,
            running: self.bits() as u32,
            port_bound: self.flag(),
            cpu: self.number(),
            memory_limit: self.number(),
            disk_free: self.number(),
            inodes_free: self.number(),
            skew_s: self.number(),
            generation: self.bits() as u32,
        }
    }

    fn need(&mut self) -> Need {
        Need {
            instance: InstanceId(self.bits() as u16),
            group: self.bits() as u8,
            replicas: self.bits() as u32,
            cpu_cores: self.number(),
            memory: self.number(),
            disk_write: self.number(),
            files_write: self.number(),
            exit_code: self.bits() as i32,
        }
    }

    pub(crate) fn inbox(&mut self) -> Inbox {
        Inbox {
            calls: self.list(Samples::calls),
            reports: self.list(Samples::report),
            grants: self.list(Samples::grant),
            needs: self.list(Samples::need),
            names: self.list(Samples::resolution),
        }
    }

    fn resolution(&mut self) -> Resolution {
        Resolution { missing: self.number(), astray: self.number() }
    }

    pub(crate) fn outbox(&mut self) -> Outbox {
        Outbox {
            report: self.report(),
            calls: self.list(Samples::calls),
            needs: self.list(Samples::need),
            grants: self.list(Samples::grant),
            answers: self.list(Samples::resolution),
            motion: Motion { failure: self.number(), lateness: self.number(), load: self.number() },
            row: self.array::<COLUMNS_MAX>(),
        }
    }

    pub(crate) fn advanced(&mut self) -> Advanced {
        let mut row = [0; COLUMNS_MAX];
        let used = (self.bits() as usize) % (COLUMNS_MAX + 1);
        row[..used].iter_mut().for_each(|code| *code = self.bits() as u16);
        let changes = self.list(|samples| Change {
            tick: Tick(samples.bits() as i64),
            key: samples.bits() as u16,
            value: samples.number(),
            note: samples.text(),
        });
        Advanced { row, changes }
    }
}
