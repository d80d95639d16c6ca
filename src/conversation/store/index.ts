export type * from './conversation.js';
export type { ChangeRefusal, ConversationStore, Created } from './conversation.store.js';
export { readLog } from './log.reader.js';
export type * from './message.js';
export type * from './turn.js';
export { newTurnToken, parseTurnId } from './turn.id.js';
export { conversationStoreOn } from './conversation-store.factory.js';
