import { describe } from '@jest/globals';
import { anthropicRig } from '../contract/provider.anthropic-rig.js';
import { azureClassicRig, azureRig } from '../contract/provider.azure-rig.js';
import { describeProvider } from '../contract/provider.contract.js';
import { openAiRig } from '../contract/provider.openai-rig.js';
import { vertexRig } from '../contract/provider.vertex-rig.js';

describeProvider(openAiRig);
describeProvider(anthropicRig);
describeProvider(vertexRig);
describeProvider(azureRig);
describe('with the URLs of before', () => {
  describeProvider(azureClassicRig);
});
