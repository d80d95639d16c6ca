const WEATHER_TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city now',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const QUESTION = { role: 'user', content: 'What is the weather in Oslo?' };

const CITY_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, country: { type: 'string' } },
  required: ['city', 'country'],
  additionalProperties: false,
};

/** Requests to try. */
export const REQUEST_EXAMPLES = {
  text: {
    summary: 'Text',
    value: { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Say hello.' }] },
  },
  stream: {
    summary: 'A stream that ends with its usage',
    value: {
      model: 'gpt-4.1',
      messages: [
        { role: 'system', content: 'Answer in one sentence.' },
        { role: 'user', content: 'Why is the sky blue?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  fallback: {
    summary: 'Models in order of preference, and common settings',
    value: {
      models: ['gpt-4.1', 'claude-sonnet-4.5'],
      messages: [{ role: 'user', content: 'Name a river.' }],
      temperature: 0.2,
      max_tokens: 100,
      stop: ['\n'],
      seed: 7,
      cache: false,
    },
  },
  image: {
    summary: 'An image',
    value: {
      model: 'gpt-4.1',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in this picture?' },
            { type: 'image_url', image_url: { url: 'https://example.com/cat.png', detail: 'low' } },
          ],
        },
      ],
    },
  },
  tools: {
    summary: 'A tool that the model may call',
    value: { model: 'gpt-4.1', messages: [QUESTION], tools: [WEATHER_TOOL], tool_choice: 'auto' },
  },
  toolResult: {
    summary: "The tool's answer, for the model to go on",
    value: {
      model: 'gpt-4.1',
      messages: [
        QUESTION,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '{"celsius":4}' },
      ],
      tools: [WEATHER_TOOL],
    },
  },
  structured: {
    summary: 'An answer by a JSON Schema',
    value: {
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: 'Name a city in Norway.' }],
      response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: CITY_SCHEMA } },
    },
  },
};
