import { anthropicRig } from '../contract/provider.anthropic-rig.js';
import { describeProvider } from '../contract/provider.contract.js';
import { openAiRig } from '../contract/provider.openai-rig.js';

describeProvider(openAiRig);
describeProvider(anthropicRig);
