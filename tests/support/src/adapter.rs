//! Launches of programs on a device.

use fuse_artifact::{DType, Function};
use fuse_compiler::{graph::Param, interp::Value};
use fuse_runtime::{
    __private::{
        Arg, RawQuantized, RawTensor, alternatives, launch_alternative, launch_dynamic, launch_with, variants,
    },
    Device, Error,
};
use half::f16;

use crate::{Program, quantized};

/// One variant for each kernel of a launch.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Variant index per kernel.
    pub indices: Vec<usize>,
    /// Variant names.
    pub names: Vec<&'static str>,
}

/// Inputs on a device.
pub struct Arguments(Vec<Argument>);

#[derive(Clone)]
enum Argument {
    Tensor(RawTensor),
    Quantized(RawQuantized),
    Scalar(DType, u32),
}

impl Argument {
    fn arg(&self) -> Arg<'_> {
        match *self {
            Self::Tensor(ref tensor) => Arg::Tensor(tensor),
            Self::Quantized(ref tensor) => Arg::Quantized(tensor),
            Self::Scalar(dtype, bits) => Arg::Scalar { dtype, bits },
        }
    }
}

impl Arguments {
    /// Uploads inputs.
    ///
    /// # Errors
    /// The runtime's message.
    pub fn new(device: &Device, program: &Program, inputs: &[Value]) -> Result<Self, String> {
        let argument = |(param, input): (&Param, &Value)| match &param.quantized {
            Some(quantized) => quantized::upload(device, quantized, input).map(Argument::Quantized),
            None if param.scalar => Ok(Argument::Scalar(input.dtype, scalar_bits(input.dtype, input.data[0]))),
            None => {
                let tensor = RawTensor::from_bytes(device, input.dtype, &input.shape, &encode(input));
                tensor.map(Argument::Tensor).map_err(|error| error.to_string())
            }
        };
        program.graph.params.iter().zip(inputs).map(argument).collect::<Result<_, _>>().map(Self)
    }

    /// Replaces every tensor by the first.
    #[must_use]
    pub fn with_one_tensor(mut self) -> Self {
        let is_tensor = |argument: &Argument| matches!(argument, Argument::Tensor(_));
        let first = self.0.iter().find(|argument| is_tensor(argument)).expect("a tensor").clone();
        self.0.iter_mut().filter(|argument| is_tensor(argument)).for_each(|argument| *argument = first.clone());
        self
    }

    fn args(&self) -> Vec<Arg<'_>> {
        self.0.iter().map(Argument::arg).collect()
    }

    /// Choices that cover every legal variant of each kernel.
    ///
    /// # Errors
    /// The runtime's message.
    pub fn choices(&self, program: &Program) -> Result<Vec<Choice>, String> {
        let legal = variants(program.function, &self.args()).map_err(|error| error.to_string())?;
        let most = legal.iter().map(|kernel| kernel.legal.len()).max().unwrap_or(0);
        if let Some(kernel) = legal.iter().find(|kernel| kernel.legal.is_empty()) {
            return Err(format!("kernel {} has no variant that may run", kernel.kernel));
        }
        let choice = |i: usize| legal.iter().map(|kernel| kernel.legal[i % kernel.legal.len()]).unzip();
        Ok((0..most).map(choice).map(|(indices, names)| Choice { indices, names }).collect())
    }

    /// Plans whose assumptions hold, for [`Arguments::launch_plan`].
    ///
    /// # Errors
    /// The runtime's message.
    pub fn plans(&self, program: &Program) -> Result<Vec<usize>, String> {
        alternatives(program.function, &self.args()).map_err(|error| error.to_string())
    }

    /// Launches a given plan.
    ///
    /// # Errors
    /// The runtime's message.
    pub async fn launch_plan(&self, program: &Program, plan: usize) -> Result<Vec<Value>, String> {
        self.launch_by(program.function, |args| launch_alternative(program.function, args, plan)).await
    }

    /// Results, then the new values of updated arguments, which are copies.
    async fn launch_by(
        &self,
        function: &'static Function,
        launch: impl FnOnce(&[Arg<'_>]) -> Result<Vec<RawTensor>, Error>,
    ) -> Result<Vec<Value>, String> {
        let mut args = self.args();
        let copy = |&param: &u16| match args[usize::from(param)] {
            Arg::Tensor(tensor) => tensor.copy().map_err(|error| error.to_string()),
            ref other => Err(format!("an update of {other:?}")),
        };
        let copies = function.updates.iter().map(copy).collect::<Result<Vec<_>, _>>()?;
        for (param, copy) in function.updates.iter().zip(&copies) {
            args[usize::from(*param)] = Arg::Tensor(copy);
        }
        let results = launch(&args).map_err(|error| error.to_string())?;
        download_all(&[results, copies.clone()].concat()).await
    }

    /// Launches in the calling thread's current mode; [`download_all`] reads the results.
    ///
    /// # Errors
    /// The runtime's message.
    pub fn launch_here(&self, function: &'static Function) -> Result<Vec<RawTensor>, Error> {
        launch_dynamic(function, &self.args())
    }

    /// Launches with given variants, or the runtime's choice.
    ///
    /// # Errors
    /// The runtime's message.
    pub async fn launch(&self, program: &Program, choice: Option<&[usize]>) -> Result<Vec<Value>, String> {
        let function = program.function;
        match choice {
            None => self.launch_by(function, |args| launch_dynamic(function, args)).await,
            Some(choice) => self.launch_by(function, |args| launch_with(function, args, choice)).await,
        }
    }
}

/// Downloads tensors.
///
/// # Errors
/// The runtime's message.
pub async fn download_all(tensors: &[RawTensor]) -> Result<Vec<Value>, String> {
    let mut values = vec![];
    for tensor in tensors {
        values.push(download(tensor).await?);
    }
    Ok(values)
}

async fn download(tensor: &RawTensor) -> Result<Value, String> {
    let bytes = tensor.to_bytes().await.map_err(|error| error.to_string())?;
    Ok(Value { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), data: decode(tensor.dtype(), &bytes)? })
}

fn scalar_bits(dtype: DType, x: f64) -> u32 {
    match dtype {
        DType::F32 | DType::F16 => (x as f32).to_bits(),
        DType::I32 => x as i32 as u32,
        DType::U32 | DType::Bool => x as u32,
    }
}

fn encode(value: &Value) -> Vec<u8> {
    if value.dtype == DType::F16 {
        return value.data.iter().flat_map(|&x| f16::from_f64(x).to_le_bytes()).collect();
    }
    value.data.iter().flat_map(|&x| scalar_bits(value.dtype, x).to_le_bytes()).collect()
}

fn decode(dtype: DType, bytes: &[u8]) -> Result<Vec<f64>, String> {
    if dtype == DType::F16 {
        return Ok(bytes.as_chunks().0.iter().map(|&chunk| f16::from_le_bytes(chunk).to_f64()).collect());
    }
    let words = bytes.as_chunks().0.iter().map(|&chunk| u32::from_le_bytes(chunk));
    let number = |word: u32| match dtype {
        DType::F32 | DType::F16 => Ok(f32::from_bits(word).into()),
        DType::I32 => Ok(f64::from(word as i32)),
        DType::U32 => Ok(f64::from(word)),
        DType::Bool if word > 1 => Err(format!("a bool is stored as {word}")),
        DType::Bool => Ok(f64::from(word)),
    };
    words.map(number).collect()
}
