import type { ChatAddress } from '../openai.adapter.js';

/**
 * Where Azure OpenAI takes completions: its v1 API, where the model is the deployment's name
 * (https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle), or the URLs of before, which name the deployment and a
 * version. What goes over the line is OpenAI's format in both.
 */
export const azureAddress: ChatAddress = ({ deployment: { upstream, model } }) => ({
  url:
    upstream.apiVersion === undefined
      ? `${upstream.baseUrl}/chat/completions`
      : `${upstream.baseUrl}/openai/deployments/${encodeURIComponent(model)}/chat/completions?api-version=${upstream.apiVersion}`,
  headers: { 'api-key': upstream.apiKey },
});
