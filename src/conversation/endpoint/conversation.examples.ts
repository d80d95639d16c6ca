import type { ConversationCard, ConversationList } from './conversation.dto.js';
import type { MessageObject, MessageObjectList } from './message.dto.js';
import type { TurnCard } from './turn.dto.js';
import type { WindowPreview } from './window.dto.js';

const ID = 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa';
const TURN = 'turn_kPqv0a3nS2u3bJ5mQm0s9g_1';
const CREATED = 1_795_967_150;
const USAGE = { prompt_tokens: 21, completion_tokens: 3, total_tokens: 24 };

export const CONVERSATION_EXAMPLE: ConversationCard = {
  id: ID,
  object: 'conversation',
  title: 'Trip to Rome',
  model: 'gpt-4.1',
  system: 'You plan trips.',
  metadata: { user: '4711' },
  created_at: CREATED,
  updated_at: CREATED + 2,
  seq: 2,
};

export const CONVERSATIONS_EXAMPLE: ConversationList = {
  object: 'list',
  data: [CONVERSATION_EXAMPLE],
  has_more: false,
  last_id: `${ID}~1795967152000`,
};

const USER = {
  id: 'msg_kPqv0a3nS2u3bJ5mQm0s9g_1',
  object: 'conversation.message',
  seq: 1,
  role: 'user',
  content: 'Hello!',
  status: 'complete',
  superseded: false,
  turn_id: TURN,
  model: null,
  finish_reason: null,
  usage: null,
  created_at: CREATED,
} satisfies MessageObject;

const ASSISTANT = {
  ...USER,
  id: 'msg_kPqv0a3nS2u3bJ5mQm0s9g_2',
  seq: 2,
  role: 'assistant',
  content: 'Where to?',
  model: 'gpt-4.1',
  finish_reason: 'stop',
  usage: USAGE,
  created_at: CREATED + 2,
} satisfies MessageObject;

export const MESSAGES_EXAMPLE: MessageObjectList = {
  object: 'list',
  data: [USER, ASSISTANT],
  has_more: false,
  last_id: ASSISTANT.id,
};

export const EXPORT_EXAMPLE = [CONVERSATION_EXAMPLE, USER, ASSISTANT]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

export const TURN_EXAMPLE = {
  id: TURN,
  object: 'turn',
  conversation_id: ID,
  status: 'complete',
  model: 'gpt-4.1',
  user: USER,
  assistant: ASSISTANT,
  usage: USAGE,
  window: { firstSeq: 1, lastSeq: 1, messages: 1, tokens: 21, budget: 890_439, droppedMessages: 0, counting: 'exact' },
  error: null,
  created_at: CREATED,
  ended_at: CREATED + 2,
} satisfies TurnCard;

const RUNNING: TurnCard = {
  ...TURN_EXAMPLE,
  status: 'running',
  user: { ...USER, status: 'pending' },
  assistant: null,
  usage: null,
  window: null,
  ended_at: null,
};

const CHUNK = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: CREATED,
  model: 'gpt-4.1',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Where to?' }, finish_reason: null }],
};

export const EVENTS_EXAMPLE = [
  { name: 'turn', data: RUNNING },
  { name: 'delta', data: CHUNK },
  { name: 'done', data: TURN_EXAMPLE },
]
  .map(({ name, data }, at) => `id: ${String(at + 1)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  .join('');

export const WINDOW_EXAMPLE: WindowPreview = {
  object: 'conversation.window',
  conversation_id: ID,
  model: 'gpt-4.1',
  context_window: 1_047_576,
  reserved_output: 32_768,
  fixed_tokens: 10,
  window: { firstSeq: 3, lastSeq: 4, messages: 2, tokens: 24, budget: 890_439, droppedMessages: 2, counting: 'exact' },
  sent: [
    { seq: 3, role: 'user', tokens: 8 },
    { seq: 4, role: 'assistant', tokens: 6 },
  ],
  left_out: [{ first_seq: 1, last_seq: 2, reason: 'failed' }],
  cost_usd: 0.000048,
};
