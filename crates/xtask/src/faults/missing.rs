//! Devices that each lack one extension or feature: a missing requirement is named, and a missing option is worked
//! around.

use anyhow::{Context, Result, ensure};

use super::program::{Fault, Program};

/// Required features. Without one there is no device, and one line states the reason.
const NEEDED: [&str; 19] = [
    "VK_KHR_push_descriptor",
    "synchronization2",
    "inlineUniformBlock",
    "dynamicRendering",
    "maintenance4",
    "timelineSemaphore",
    "descriptorIndexing",
    "runtimeDescriptorArray",
    "descriptorBindingPartiallyBound",
    "descriptorBindingVariableDescriptorCount",
    "shaderSampledImageArrayNonUniformIndexing",
    "shaderStorageBufferArrayNonUniformIndexing",
    "bufferDeviceAddress",
    "hostQueryReset",
    "separateDepthStencilLayouts",
    "robustBufferAccess",
    "robustImageAccess",
    "shaderZeroInitializeWorkgroupMemory",
    "shaderDemoteToHelperInvocation",
];

/// Optional features. Without one the program runs as usual.
const OPTIONAL: [&str; 31] = [
    "VK_EXT_calibrated_timestamps",
    "VK_KHR_maintenance8",
    "VK_EXT_swapchain_maintenance1",
    "VK_KHR_swapchain_maintenance1",
    "VK_EXT_swapchain_maintenance1,VK_KHR_swapchain_maintenance1",
    "scalarBlockLayout",
    "vulkanMemoryModel",
    "fullDrawIndexUint32",
    "imageCubeArray",
    "independentBlend",
    "sampleRateShading",
    "multiDrawIndirect",
    "drawIndirectCount",
    "shaderDrawParameters",
    "samplerFilterMinmax",
    "drawIndirectFirstInstance",
    "depthClamp",
    "depthBiasClamp",
    "depthBounds",
    "logicOp",
    "fillModeNonSolid",
    "samplerAnisotropy",
    "vertexPipelineStoresAndAtomics",
    "fragmentStoresAndAtomics",
    "shaderStorageImageExtendedFormats",
    "shaderStorageImageReadWithoutFormat",
    "shaderStorageImageWriteWithoutFormat",
    "shaderClipDistance",
    "shaderInt64",
    "shaderInt16",
    "shaderFloat64",
];

/// Needed for windows only: without it the error names it, and everything else works.
const FOR_WINDOWS: &str = "VK_KHR_swapchain";

/// Number of frames of a run.
const FRAMES: u32 = 5;

impl Program<'_> {
    /// Hides the extensions and features one by one.
    ///
    /// # Errors
    /// When the program does not name a missing requirement, or fails without an optional one.
    pub(crate) fn missing(&self) -> Result<String> {
        let everything = self.without("", "")?;
        let before = extensions(&everything)?;
        ensure!(before.len() > 2, "the device has only {before:?}");
        for needed in NEEDED {
            // With a script, the program may exit without a device.
            let output = self.without(needed, "# none\n")?;
            let wanted = format!("lacks what Quadrille needs: {needed}");
            let lines = output.lines().filter(|line| line.contains(needed)).count();
            ensure!(
                output.contains(&wanted) && lines == 1,
                "without {needed} it says, on {lines} lines:\n{output}"
            );
        }
        for optional in OPTIONAL {
            let output = self
                .without(optional, "")
                .with_context(|| format!("without {optional}"))?;
            let left = extensions(&output)?;
            let hidden = |name: &&str| optional.split(',').any(|hidden| hidden == *name);
            let seen = left.iter().find(|name| hidden(name));
            ensure!(seen.is_none(), "without {optional} it has {seen:?}");
        }
        let output = self.without(FOR_WINDOWS, "# none\n")?;
        ensure!(
            output.contains(FOR_WINDOWS) && output.contains("window: "),
            "without {FOR_WINDOWS} it says:\n{output}"
        );
        Ok(format!(
            "{} that it needs, {} that it does without",
            NEEDED.len(),
            OPTIONAL.len() + 1
        ))
    }

    fn without(&self, hidden: &'static str, script: &str) -> Result<String> {
        let fault = Fault {
            script: script.to_owned(),
            frames: FRAMES,
            families: "gct:1,ct:1,t:1",
            fences: true,
            environment: vec![("QUADRILLE_LAYER_HIDE", hidden)],
        };
        self.run("faults-missing", &fault, None)
    }
}

/// Returns the device extensions that the program has enabled, from its output.
fn extensions(output: &str) -> Result<Vec<&str>> {
    let line = output
        .lines()
        .find_map(|line| line.split_once("device extensions: "))
        .context("the program does not say what its device has")?;
    Ok(line.1.split_whitespace().collect())
}

#[cfg(test)]
mod tests;
