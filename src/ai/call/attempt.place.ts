import type { GenAiPlace } from '../../observability/index.js';
import type { Deployment, Upstream } from '../catalogue/catalogue.js';

/** Of the conventions' well-known names those that a kind of provider tells; one that speaks OpenAI's format may be anybody. */
const KNOWN_PROVIDERS = {
  azure: 'azure.ai.openai',
  anthropic: 'anthropic',
  vertex: 'gcp.vertex_ai',
  openai: undefined,
} as const;

/** Where an attempt goes, as traces and metrics name it: no part of it is a caller's, and no part of the URL but its host and port. */
export function placeOf({ model, upstream }: Deployment): GenAiPlace {
  return { provider: KNOWN_PROVIDERS[upstream.kind] ?? upstream.name, model, ...hostOf(upstream) };
}

function hostOf({ baseUrl }: Upstream): Pick<GenAiPlace, 'address' | 'port'> {
  if (!URL.canParse(baseUrl)) return { address: undefined, port: undefined };
  const { hostname, port, protocol } = new URL(baseUrl);
  return { address: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
}
