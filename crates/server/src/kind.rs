//! [`server_kind!`]: the descriptor of a server kind, from what is its own.

/// The types that [`server_kind!`] names, so that a kind's crate need not import them.
#[doc(hidden)]
pub mod parts {
    pub use machine::{Kind, LeverSpec, Machine, OperationSpec};
    pub use model::{ParamError, ParamSpec, Setup};
    pub use telemetry::{ColumnSpec, SignalSpec};
}

/// Makes a server kind and its `KIND`, for the fleet's list. Parameters, levers and operations that
/// all servers share come after its own. `columns` and `create` are functions of a setup; further
/// methods of [`machine::Kind`] may follow, as in an `impl`.
#[macro_export]
macro_rules! server_kind {
    (
        $(#[$meta:meta])* $kind:ident {
            name: $name:literal,
            doc: $doc:literal,
            params: $params:expr,
            levers: $levers:expr,
            operations: $operations:expr,
            rpcs: $rpcs:expr,
            columns: $columns:expr,
            signals: $signals:expr,
            create: $create:expr $(,)?
        }
        $($method:item)*
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $kind;

        #[doc = concat!("The ", $name, " kind, for the fleet's list.")]
        pub static KIND: &dyn $crate::kind::parts::Kind = &$kind;

        const PARAM_COUNT: usize = $params.len() + $crate::PARAMS.len();
        static PARAMS: [$crate::kind::parts::ParamSpec; PARAM_COUNT] =
            $crate::join_params::<PARAM_COUNT>($params, $crate::PARAMS);

        const LEVER_COUNT: usize = $levers.len() + $crate::LEVERS.len();
        static LEVERS: [$crate::kind::parts::LeverSpec; LEVER_COUNT] =
            $crate::join_levers::<LEVER_COUNT>($levers, $crate::LEVERS);

        const OPERATION_COUNT: usize = $operations.len() + $crate::OPERATIONS.len();
        static OPERATIONS: [$crate::kind::parts::OperationSpec; OPERATION_COUNT] =
            $crate::join_operations::<OPERATION_COUNT>($operations, $crate::OPERATIONS);

        impl $crate::kind::parts::Kind for $kind {
            fn name(&self) -> &'static str {
                $name
            }

            fn doc(&self) -> &'static str {
                $doc
            }

            fn params(&self) -> &'static [$crate::kind::parts::ParamSpec] {
                &PARAMS
            }

            fn levers(&self) -> &'static [$crate::kind::parts::LeverSpec] {
                &LEVERS
            }

            fn operations(&self) -> &'static [$crate::kind::parts::OperationSpec] {
                &OPERATIONS
            }

            fn rpcs(&self) -> &'static [&'static str] {
                $rpcs
            }

            fn columns(
                &self,
                setup: &$crate::kind::parts::Setup,
            ) -> Vec<$crate::kind::parts::ColumnSpec> {
                ($columns)(setup)
            }

            fn signals(&self) -> &'static [$crate::kind::parts::SignalSpec] {
                $signals
            }

            fn create(
                &self,
                setup: &$crate::kind::parts::Setup,
            ) -> Result<Box<dyn $crate::kind::parts::Machine>, $crate::kind::parts::ParamError> {
                ($create)(setup)
            }

            $($method)*
        }
    };
}
