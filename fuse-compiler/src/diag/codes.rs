//! Catalogue of diagnostics: id, failing program in `tests/ui/diagnostics`, title.

use super::Severity;

macro_rules! catalog {
    ($($variant:ident = $id:literal $name:literal $title:literal,)*) => {
        /// Catalogue entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $title] $variant,)* }

        impl Code {
            /// All entries, by id.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Stable id, for example `F101`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// Name in snake case, shared with the failing program.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// One-line title.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

catalog! {
    SyntaxError = "F001" "syntax_error" "the tokens are not valid syntax",
    EmptyBlock = "F002" "empty_block" "`fuse!` was given nothing to compile",
    ExpectedFunction = "F003" "expected_function" "a block holds functions only",
    FunctionQualifier = "F004" "function_qualifier" "a kernel cannot be `async`, `const`, `unsafe` or `extern`",
    BadParameter = "F005" "bad_parameter" "a parameter is `name: type`",
    MissingResultType = "F006" "missing_result_type" "a function must say what it returns",
    MissingValue = "F007" "missing_value" "a body must end with a value",
    UnknownAttribute = "F008" "unknown_attribute" "an attribute that `fuse!` does not know",
    BadSchedule = "F009" "bad_schedule" "a malformed `#[schedule(…)]`",

    UnknownType = "F010" "unknown_type" "an element type that does not exist",
    UnsupportedType = "F011" "unsupported_type" "a Rust type that kernels cannot hold",
    MissingBound = "F013" "missing_bound" "a generic element type without a bound",
    UnknownBound = "F014" "unknown_bound" "a bound other than `Float`",
    UnsupportedGeneric = "F015" "unsupported_generic" "a generic parameter that is not an element type",
    UnusedGeneric = "F016" "unused_generic" "a generic element type that no parameter uses",
    RankTooHigh = "F017" "rank_too_high" "a tensor with more than six axes",
    UnboundDimension = "F018" "unbound_dimension" "a dimension that no parameter defines",
    BadDimension = "F019" "bad_dimension" "a dimension that is neither a name, a number nor their product",
    DuplicateFunction = "F020" "duplicate_function" "two functions of one name",
    DuplicateParameter = "F021" "duplicate_parameter" "two parameters of one name",
    ReservedName = "F022" "reserved_name" "a name that the language uses itself",
    NoTensorParameter = "F023" "no_tensor_parameter" "a function without a tensor parameter",
    UnusedParameter = "F024" "unused_parameter" "a parameter that the body never reads",
    UnusedLet = "F025" "unused_let" "a binding that is never read",
    Recursion = "F026" "recursion" "a function that calls itself",
    TooLarge = "F027" "too_large" "a function that grows too large when calls are inlined",
    BadConstant = "F028" "bad_constant" "a constant whose value the macro cannot read",

    IfExpression = "F030" "if_expression" "`if` and `match` in a body",
    LoopExpression = "F031" "loop_expression" "loops in a body",
    MethodCall = "F032" "method_call" "method calls and fields in a body",
    IndexExpression = "F033" "index_expression" "indexing with brackets",
    ReturnExpression = "F034" "return_expression" "`return`, `break` and `?` in a body",
    ClosureExpression = "F035" "closure_expression" "closures in a body",
    Assignment = "F036" "assignment" "assignment to a variable",
    UnsupportedOperator = "F037" "unsupported_operator" "an operator that tensors do not have",
    UnsupportedSyntax = "F038" "unsupported_syntax" "other Rust syntax that the language lacks",
    ChainedComparison = "F039" "chained_comparison" "`a < b < c`",
    BadLet = "F040" "bad_let" "a `let` that does not bind names to a value",
    UselessStatement = "F041" "useless_statement" "an expression whose value is thrown away",
    UnsupportedLiteral = "F042" "unsupported_literal" "a literal that is not a number or a truth value",
    UnexpectedList = "F043" "unexpected_list" "a bracketed list where a value is expected",

    UnknownVariable = "F050" "unknown_variable" "a name that is not bound",
    UnknownOperation = "F051" "unknown_operation" "a call of something that does not exist",
    DimensionAsValue = "F052" "dimension_as_value" "a dimension used as a number",
    CallOfVariable = "F053" "call_of_variable" "a call of something that is not a function",

    ArgumentCount = "F060" "argument_count" "too few or too many arguments",
    UnknownOption = "F061" "unknown_option" "a named argument that the operation does not have",
    DuplicateOption = "F062" "duplicate_option" "a named argument given twice",
    MissingOption = "F063" "missing_option" "a named argument that the operation needs",
    BadOption = "F064" "bad_option" "a named argument of the wrong kind",
    TupleAsValue = "F065" "tuple_as_value" "several values where one is expected",
    ResultCount = "F066" "result_count" "the wrong number of values",
    OptionRange = "F067" "option_range" "a number outside of the range that an argument allows",

    DTypeMismatch = "F070" "dtype_mismatch" "operands of different dtypes",
    ComparisonDType = "F071" "comparison_dtype" "a comparison of different dtypes",
    FloatRequired = "F072" "float_required" "an operation that takes floats only",
    NumberRequired = "F073" "number_required" "an operation that takes numbers only",
    BoolRequired = "F074" "bool_required" "an operation that takes truth values only",
    ConditionNotBool = "F075" "condition_not_bool" "a condition that is not a truth value",
    FloatLiteralForInteger = "F076" "float_literal_for_integer" "a literal with a decimal point among integers",
    LiteralOutOfRange = "F077" "literal_out_of_range" "a literal that its dtype cannot hold",
    LiteralSuffix = "F078" "literal_suffix" "a literal with the suffix of a dtype that does not exist",
    DivisionByZero = "F079" "division_by_zero" "an integer divided by the literal 0",
    GenericArgument = "F080" "generic_argument" "an argument that a generic function does not take",
    ResultDType = "F081" "result_dtype" "a result of another dtype than declared",
    IntegerRequired = "F082" "integer_required" "an operation that takes integers only",
    QuantizedOperand = "F083" "quantized_operand" "a quantized tensor where numbers are needed",
    QuantizedType = "F084" "quantized_type" "a quantized type where there can be none",

    RankMismatch = "F090" "rank_mismatch" "an argument of another rank than declared",
    DimensionMismatch = "F091" "dimension_mismatch" "dimensions that differ",
    BroadcastMismatch = "F092" "broadcast_mismatch" "shapes that do not broadcast",
    MatmulRank = "F093" "matmul_rank" "a matrix product of something that is not a matrix",
    MatmulInner = "F094" "matmul_inner" "a matrix product whose inner dimensions differ",
    MatmulBatch = "F095" "matmul_batch" "a matrix product whose batch dimensions do not broadcast",
    ResultRank = "F096" "result_rank" "a result of another rank than declared",
    ResultShape = "F097" "result_shape" "a result of another shape than declared",
    ReshapeElements = "F098" "reshape_elements" "a reshape that changes the number of elements",
    AxisOutOfRange = "F099" "axis_out_of_range" "an axis that the value does not have",
    UnknownAxis = "F100" "unknown_axis" "a named axis that the value does not have",
    AmbiguousAxis = "F101" "ambiguous_axis" "a named axis that the value has more than once",
    DuplicateAxis = "F102" "duplicate_axis" "an axis listed twice",
    PermuteLength = "F103" "permute_length" "a permutation of another length than the rank",
    TransposeRank = "F104" "transpose_rank" "a transpose of fewer than two axes",
    SliceOutOfRange = "F105" "slice_out_of_range" "a slice that ends after its axis",
    SliceReversed = "F106" "slice_reversed" "a slice that starts after its end",
    SqueezeExtent = "F107" "squeeze_extent" "a squeeze of an axis that is not 1",
    BroadcastToShape = "F108" "broadcast_to_shape" "a shape that the value does not broadcast to",
    VectorRequired = "F109" "vector_required" "an operation that takes vectors only",
    IndexWithoutShape = "F110" "index_without_shape" "`index` that meets no value with a shape",
    GroupCount = "F111" "group_count" "an axis that its groups or parts do not divide",
    EmptyAxis = "F112" "empty_axis" "an index along an axis without elements",

    PositiveAxis = "F120" "positive_axis" "an axis counted from the front where the rank is unknown",
    TooManyDTypes = "F121" "too_many_dtypes" "more independent dtypes than an expression may have",
    NoVariable = "F122" "no_variable" "an expression without a tensor",

    BadImport = "F140" "bad_import" "a `use` that does not name functions",
    UnusedImport = "F141" "unused_import" "an import that no function of the block calls",
    ImportCollision = "F142" "import_collision" "an import with the name of something else",
    ImportVersion = "F143" "import_version" "an import that another version of `fuse!` compiled",

    NotInWebNn = "F150" "not_in_webnn" "an operation of a `#[webnn]` function that WebNN lacks",

    GradientPath = "F160" "gradient_path" "a gradient to which no differentiable path leads",
    GradientOf = "F161" "gradient_of" "a gradient of something that is not one float",
    GradientWrt = "F162" "gradient_wrt" "a gradient with respect to something that has none",
    GradientCotangent = "F163" "gradient_cotangent" "a cotangent of another type than what is differentiated",
    GradientInExpression = "F164" "gradient_in_expression" "a gradient in an expression, which declares no shapes",
    DifferentiableParameter = "F165" "differentiable_parameter" "a parameter of `#[differentiable]` that has no gradient",
    DifferentiableResult = "F166" "differentiable_result" "a `#[differentiable]` function without a float result",
    DifferentiablePath = "F167" "differentiable_path" "a parameter of `#[differentiable]` to which no differentiable path leads",

    UpdateTarget = "F170" "update_target" "an assignment to something that cannot be updated",
    UpdateTwice = "F171" "update_twice" "a parameter that is updated twice",
    UpdateMissing = "F172" "update_missing" "a parameter of type `&mut` that nothing is assigned to",
    StaleRead = "F173" "stale_read" "a parameter that is read after its update",

    InternalError = "F999" "internal_error" "a mistake of the compiler itself",
}

impl Code {
    /// Only errors stop the compilation.
    pub const fn severity(self) -> Severity {
        match self {
            Self::UnusedParameter | Self::UnusedLet | Self::UnusedImport => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_and_names_are_unique_and_ordered() {
        assert!(Code::ALL.is_sorted_by_key(|code| code.id()));
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        let ids: BTreeSet<_> = Code::ALL.iter().map(|code| code.id()).collect();
        assert_eq!((names.len(), ids.len()), (Code::ALL.len(), Code::ALL.len()));
    }
}
