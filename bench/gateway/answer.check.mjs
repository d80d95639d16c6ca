/** Is this answer the right one? Anything else than the whole expected text in OpenAI's shape counts as an error. */
import { MODEL } from './workloads.mjs';

/** @returns {string | undefined} what is wrong with a JSON answer, undefined when it is right */
export function faultOfJson(status, text, expected) {
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`;
  const body = parsed(text);
  if (!body) return `no JSON: ${text.slice(0, 200)}`;
  if (body.choices?.[0]?.message?.content !== expected) return `another content: ${text.slice(0, 200)}`;
  if (body.usage?.total_tokens !== 300) return 'usage is missing';
  return faultOfModel(body.model);
}

/** @returns {string | undefined} what is wrong with a stream, undefined when it is right */
export function faultOfStream(status, text, expected) {
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`;
  const frames = text.split(/\r?\n\r?\n/).filter((frame) => frame !== '' && !frame.startsWith(':'));
  if (frames.pop() !== 'data: [DONE]') return `the stream did not end with [DONE]: ${text.slice(-200)}`;
  const chunks = frames.map((frame) => parsed(frame.replace(/^data: ?/, '')));
  const wrong = frames[chunks.findIndex((chunk) => !chunk || chunk.error)];
  if (wrong !== undefined) return `not a chunk: ${wrong.slice(0, 200)}`;
  const content = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
  if (content !== expected) return `another content of ${content.length} characters in ${chunks.length} chunks`;
  if (!chunks.some(({ usage }) => usage?.total_tokens === 300)) return 'the usage chunk is missing';
  return faultOfModel(chunks[0].model);
}

function faultOfModel(model) {
  return model === MODEL ? undefined : `model is ${model}`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
