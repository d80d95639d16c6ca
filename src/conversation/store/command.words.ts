import { escapeName } from '../../store/index.js';
import { formatCounts, STATUS_MARKS } from './card.format.js';
import type { ConversationChanges, ConversationDraft, ExpectedVersion } from './conversation.js';
import { writeEnd, type WrittenMessage, writeStart } from './message.format.js';
import type { TurnEnd, TurnStart } from './turn.js';
import type { TurnIdParts } from './turn.id.js';

/** What the scripts are given, in their order. */
type Words = readonly (string | number)[];

export function draftWords({ keepMs, ...members }: ConversationDraft): Words {
  const fields = fieldsOf(members).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  return [keepMs, ...fields];
}

export function changeWords(changes: ConversationChanges): Words {
  return fieldsOf(changes).flatMap(([name, value]) => [name, value === undefined ? 0 : 1, value ?? '']);
}

export function versionWords(expected: ExpectedVersion | undefined): Words {
  return expected === undefined ? ['', ''] : [expected.seq, expected.version];
}

export function startWords(start: TurnStart, replaces: TurnIdParts | undefined): Words {
  const { token, fence, process, key } = start;
  return [
    ...[token, fence, escapeName(process)],
    ...(key === undefined ? ['', 0] : [key.bodyHash, key.keepMs]),
    ...(replaces === undefined ? ['', 0] : [replaces.token, replaces.firstSeq]),
    ...writeStart(start).flatMap(messageWords),
  ];
}

export function endWords(end: TurnEnd): Words {
  const { fence, status, head, messages, events } = end;
  return [
    ...[fence, STATUS_MARKS[status], headWord(head), messages.length],
    ...writeEnd(end).flatMap(messageWords),
    ...events.flatMap(({ name, data }) => [name, data]),
  ];
}

function headWord(head: TurnEnd['head']): string {
  if (head === undefined) return '';
  return head === 'as-before' ? '=' : `${head.seq}|${head.model}`;
}

function messageWords({ marks, content, extras, card }: WrittenMessage): Words {
  return [marks, content, extras, card];
}

/** The given members only, by their names in the store. */
function fieldsOf(changes: ConversationChanges): readonly (readonly [string, string | undefined])[] {
  const { title, model, system, systemTokens, metadata } = changes;
  return [
    ...('title' in changes ? [['title', title] as const] : []),
    ...('model' in changes ? [['model', model] as const] : []),
    ...('system' in changes ? [['system', system] as const] : []),
    ...(systemTokens === undefined ? [] : [['counts', formatCounts(systemTokens)] as const]),
    ...(metadata === undefined ? [] : [['metadata', JSON.stringify(metadata)] as const]),
  ];
}
