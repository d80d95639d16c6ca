/** `incomplete`: the reply was cut off or cancelled, and is what its reader saw. `failed`: shown, and never sent to a model. */
export type MessageStatus = 'complete' | 'incomplete' | 'failed';

/** What a window is planned from: a message without its text. */
export interface MessageCard {
  /** Its place in the log, from 1, without gaps. */
  readonly seq: number;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly status: MessageStatus;
  /** Of the whole message as the model counts it. */
  readonly tokens: number;
  /** Of them what goes with its tool calls. */
  readonly callTokens: number;
  /** False: nothing is left of it without its tool calls. */
  readonly hasContent: boolean;
  /** Ids of the tool calls in it. */
  readonly calls: readonly string[];
  /** Of a tool's message: the id of the call that it answers. */
  readonly answers?: string;
}
