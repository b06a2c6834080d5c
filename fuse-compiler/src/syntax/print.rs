//! Prints expressions for suggestions. The output parses to the same expression.

use std::fmt::{self, Display, Formatter};

use super::ast::{
    Argument, BinaryOperator, Block, Call, Element, Expr, ExprKind, Literal, Statement, Target, UnaryOperator,
};

/// Binding strength of the surroundings; weaker operands get parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Strength {
    Any,
    Or,
    And,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Cast,
    Prefix,
    Atom,
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Name(name) => write!(f, "{name}"),
            ExprKind::HostOperand(place) => f.write_str(&place.text),
            ExprKind::Literal(literal) => write!(f, "{literal}"),
            ExprKind::Unary(operator, operand) => {
                f.write_str(if *operator == UnaryOperator::Neg { "-" } else { "!" })?;
                operand.within(Strength::Prefix, f)
            }
            ExprKind::Binary(first, others) => {
                let own = others.first().map_or(Strength::Any, |(operator, _)| operator.strength());
                first.within(own, f)?;
                for (operator, operand) in others {
                    write!(f, " {} ", operator.symbol())?;
                    let stronger =
                        if operand.strength() <= operator.strength() { Strength::Atom } else { Strength::Any };
                    operand.within(stronger, f)?;
                }
                Ok(())
            }
            ExprKind::Cast(operand, element, _) => {
                operand.within(Strength::Cast, f)?;
                write!(f, " as {}", element_text(element))
            }
            ExprKind::Call(call) | ExprKind::Method(call) => write!(f, "{call}"),
            ExprKind::Tuple(values) => write!(f, "({})", list(values)),
            ExprKind::Block(block) => write!(f, "{{ {block} }}"),
            ExprKind::Error => f.write_str("…"),
        }
    }
}

impl Expr {
    fn strength(&self) -> Strength {
        match &self.kind {
            ExprKind::Binary(_, others) => others
                .iter()
                .map(|(operator, _)| operator.strength())
                .fold(Strength::Atom, |least, one| if one < least { one } else { least }),
            ExprKind::Cast(..) => Strength::Cast,
            ExprKind::Unary(..) => Strength::Prefix,
            _ => Strength::Atom,
        }
    }

    fn within(&self, outside: Strength, f: &mut Formatter<'_>) -> fmt::Result {
        if self.strength() < outside { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for Statement { target, value } in &self.statements {
            let (word, names, mark) = match target {
                Target::Names(names) => ("let ", names, ""),
                Target::Parameters(names) => ("", names, "*"),
            };
            let names: Vec<String> = names.iter().map(|name| format!("{mark}{name}")).collect();
            match names.as_slice() {
                [name] => write!(f, "{word}{name} = {value}; ")?,
                names => write!(f, "{word}({}) = {value}; ", names.join(", "))?,
            }
        }
        write!(f, "{}", self.value)
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.arguments_text())
    }
}

impl Call {
    pub(crate) fn arguments_text(&self) -> String {
        let arguments = self.arguments.iter().map(ToString::to_string);
        let options = self.options.iter().map(|(name, value)| format!("{name} = {value}"));
        arguments.chain(options).collect::<Vec<_>>().join(", ")
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expr(expr) => write!(f, "{expr}"),
            Self::List(values, _) => write!(f, "[{}]", list(values)),
        }
    }
}

fn list(values: &[Expr]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn element_text(element: &Element) -> &'static str {
    match element {
        Element::DType(dtype) => dtype.name(),
        Element::Quantized(packing) => packing.name(),
        Element::Generic(index) => ["T", "U"][*index.min(&1)],
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (text, dtype) = match self {
            Self::Integer(value, dtype) => (value.to_string(), *dtype),
            Self::Float(value, dtype) => (format!("{value:?}"), *dtype),
            Self::Bool(value) => (value.to_string(), None),
        };
        let text = text.replace("NaN", "nan");
        write!(f, "{text}{}", dtype.map_or("", |dtype| dtype.name()))
    }
}

impl BinaryOperator {
    fn strength(self) -> Strength {
        match self {
            Self::Or => Strength::Or,
            Self::And => Strength::And,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => Strength::Compare,
            Self::BitOr => Strength::BitOr,
            Self::BitXor => Strength::BitXor,
            Self::BitAnd => Strength::BitAnd,
            Self::Shl | Self::Shr => Strength::Shift,
            Self::Add | Self::Sub => Strength::Sum,
            Self::Mul | Self::Div | Self::Rem => Strength::Product,
        }
    }

    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::And => "&&",
            Self::Or => "||",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}
