import type { ProviderWire } from '../../contract/provider.rig.js';
import { openAiWire } from './openai.fake.js';
import type { Members } from './reading.js';

const SEVERITY = { filtered: false, severity: 'safe' };

/** What Azure's content filter found in an answer (https://learn.microsoft.com/azure/foundry/openai/concepts/content-filter). */
export const FILTER_RESULTS = {
  hate: SEVERITY,
  protected_material_text: { detected: false, filtered: false },
  self_harm: SEVERITY,
  sexual: SEVERITY,
  violence: SEVERITY,
};

export const PROMPT_RESULTS = [
  { prompt_index: 0, content_filter_results: { hate: SEVERITY, jailbreak: { detected: false, filtered: false } } },
];

/** Azure OpenAI: OpenAI's format, with the findings of its filter; those of the prompt come first, in a chunk without choices. */
export const azureWire: Omit<ProviderWire, 'address'> = {
  ...openAiWire,
  json: (reply) => {
    const { choices, ...others } = openAiWire.json(reply) as Members & { choices: readonly Members[] };
    return {
      ...others,
      choices: choices.map((choice) => ({ ...choice, content_filter_results: FILTER_RESULTS })),
      prompt_filter_results: PROMPT_RESULTS,
    };
  },
  frames: (reply) => [PROMPT_FRAME, ...openAiWire.frames(reply).map(withFindings)],
};

const PROMPT_FRAME = `data: ${JSON.stringify({
  choices: [],
  created: 0,
  id: '',
  model: '',
  object: '',
  prompt_filter_results: PROMPT_RESULTS,
})}\n\n`;

function withFindings(frame: string): string {
  if (!frame.startsWith('data: {')) return frame;
  const chunk = JSON.parse(frame.slice('data: '.length)) as Members & { choices: readonly Members[] };
  const choices = chunk.choices.map((choice) => ({ ...choice, content_filter_results: FILTER_RESULTS }));
  return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
}
