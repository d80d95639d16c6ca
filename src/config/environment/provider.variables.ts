import { googleCredentials } from './google-credentials.js';
import { line, token } from './parsers.js';
import { optional, secret, withDefault, type EnvironmentVariable } from './variable.js';

/**
 * The variables that the shipped coordinator.yaml names: keys, and the parts of base URLs that only you know. The file
 * decides which ones are read; a file of your own may name others.
 */
export const PROVIDER_VARIABLES: readonly EnvironmentVariable[] = [
  secret('HOLYSHEEP_API_KEY', 'The key for HolySheep.', token),
  withDefault(
    'HOLYSHEEP_BASE_URL',
    'https://api.holysheep.ai/v1',
    'Where HolySheep, or anything that speaks its protocol, answers.',
    line,
  ),
  secret('OPENAI_API_KEY', 'The key for OpenAI.', token),
  secret('ANTHROPIC_API_KEY', 'The key for Anthropic.', token),
  secret('AZURE_OPENAI_API_KEY', 'The key for Azure OpenAI.', token),
  optional(
    'AZURE_OPENAI_ENDPOINT',
    '`https://<resource>.openai.azure.com`; needed with the key for Azure OpenAI.',
    line,
  ),
  secret(
    'VERTEX_CREDENTIALS',
    "For Vertex AI: a Google service account's JSON key, an access token, or `adc` (Application Default Credentials).",
    googleCredentials,
  ),
  optional('VERTEX_PROJECT', 'The Google Cloud project; needed with the credentials for Vertex AI.', line),
  withDefault(
    'VERTEX_HOST',
    'aiplatform.googleapis.com',
    'The endpoint of Vertex AI; `<region>-aiplatform.googleapis.com` for one region.',
    line,
  ),
  withDefault('VERTEX_LOCATION', 'global', 'The location of Vertex AI, of the same region.', line),
];
