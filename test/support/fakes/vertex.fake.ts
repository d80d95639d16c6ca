import type { ProviderWire, Reply, ReplyPart } from '../../contract/provider.rig.js';
import { pieces } from './reading.js';
import { understandGemini } from './vertex.reading.js';

const TAIL = {
  modelVersion: 'gemini-2.5-flash',
  createTime: '2026-11-29T09:00:00.123456Z',
  responseId: '8LgqacWxEqPKvdIPrLCo2QU',
};

export const OVERLOADED = {
  code: 503,
  message: 'The model is overloaded. Please try again later.',
  status: 'UNAVAILABLE',
};

/**
 * Gemini on Vertex AI as its reference documents it
 * (https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse). As in all of Google's JSON,
 * members that hold nothing, an index of 0 among them, are left out.
 */
export const vertexWire: Omit<ProviderWire, 'address'> = {
  json: (reply) => ({
    candidates: [{ content: contentOf(reply.content.map(partOf)), finishReason: finishOf(reply), avgLogprobs: -0.12 }],
    usageMetadata: usageOf(reply),
    ...TAIL,
  }),
  frames: (reply) => [
    frame({ candidates: [{ content: contentOf([{ text: '' }]) }], usageMetadata: { trafficType: 'ON_DEMAND' } }),
    ...reply.content.flatMap(partsOf).map((part) => frame({ candidates: [{ content: contentOf([part]) }] })),
    frame({
      candidates: [{ content: contentOf([{ text: '' }]), finishReason: finishOf(reply) }],
      usageMetadata: usageOf(reply),
    }),
  ],
  keepAlive: frame({ usageMetadata: { promptTokenCount: 12, totalTokenCount: 12, trafficType: 'ON_DEMAND' } }),
  // No event: Google's own client looks for an error as it stands in an answer that is no stream.
  errorFrame: JSON.stringify({ error: OVERLOADED }, undefined, 2),
  understand: understandGemini,
};

function frame(response: object): string {
  return `data: ${JSON.stringify({ ...response, ...TAIL })}\r\n\r\n`;
}

function contentOf(parts: readonly object[]): object {
  return { role: 'model', parts };
}

const FINISH = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' };

function finishOf({ native, finish }: Reply): string {
  return native?.finish ?? FINISH[finish];
}

function usageOf({ native, usage: { prompt, cached, completion } }: Reply): unknown {
  return (
    native?.usage ?? {
      promptTokenCount: prompt,
      candidatesTokenCount: completion,
      totalTokenCount: prompt + completion,
      ...(cached > 0 && { cachedContentTokenCount: cached }),
      trafficType: 'ON_DEMAND',
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
      candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: completion }],
    }
  );
}

export const SIGNATURE = 'CiQBcsjafC0xT9VjXqKpZ3Vk';

function partOf(part: ReplyPart): object {
  if (part.kind === 'text') return { text: part.text };
  if (part.kind === 'reasoning') return { text: part.text, thought: true };
  const args: unknown = JSON.parse(part.arguments);
  return { functionCall: { name: part.name, args }, thoughtSignature: SIGNATURE };
}

/** Texts come in pieces, a call comes whole. */
function partsOf(part: ReplyPart): readonly object[] {
  return part.kind === 'call' ? [partOf(part)] : pieces(part.text).map((text) => partOf({ ...part, text }));
}
