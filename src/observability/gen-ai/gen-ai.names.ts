/**
 * Names of OpenTelemetry's semantic conventions for generative AI, and as Prometheus spells them: without dots, with the unit at the
 * end. https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
interface Convention {
  readonly name: string;
  /** UCUM. */
  readonly unit: string;
}

export const DURATION = 'gen_ai_client_operation_duration_seconds';
export const FIRST_CHUNK = 'gen_ai_client_operation_time_to_first_chunk_seconds';
export const TOKEN_USAGE = 'gen_ai_client_token_usage';

const METRICS: Readonly<Record<string, Convention>> = {
  [DURATION]: { name: 'gen_ai.client.operation.duration', unit: 's' },
  [FIRST_CHUNK]: { name: 'gen_ai.client.operation.time_to_first_chunk', unit: 's' },
  [TOKEN_USAGE]: { name: 'gen_ai.client.token.usage', unit: '{token}' },
};

const ATTRIBUTES = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.token.type',
  'server.address',
  'server.port',
  'error.type',
];

const BY_EXPOSED: ReadonlyMap<string, Convention> = new Map([
  ...Object.entries(METRICS),
  ...ATTRIBUTES.map((name): [string, Convention] => [name.replaceAll('.', '_'), { name, unit: '' }]),
]);

/** What a metric, or a label, of `/metrics` is called over OTLP: the convention's name where there is one, else the same. */
export function conventionOf(exposed: string): Convention {
  return BY_EXPOSED.get(exposed) ?? { name: exposed, unit: unitOf(exposed) };
}

/** In Prometheus a name ends with its unit. */
function unitOf(exposed: string): string {
  const base = exposed.replace(/_total$/, '');
  if (base.endsWith('_seconds')) return 's';
  return base.endsWith('_bytes') ? 'By' : '';
}
