import { Readable } from 'node:stream';
import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Caller, CurrentCaller, RequireScope } from '../../auth/index.js';
import { conversationCard } from './conversation.cards.js';
import type { ConversationCard } from './conversation.dto.js';
import { placeOf } from './conversation.place.js';
import { etagOf, readIfMatch } from './etag.js';
import { CurrentExchange, type Exchange } from './exchange.decorator.js';
import { ListMessagesQuery, type MessageObjectList } from './message.dto.js';
import { ClearMessagesDocs, ExportConversationDocs, ListMessagesDocs, PreviewWindowDocs } from './messages.docs.js';
import { MessageLog } from './message.log.js';
import { type WindowPreview, WindowQuery } from './window.dto.js';
import { WindowPreviews } from './window.previews.js';

/** What a conversation holds, and what of it would be sent. */
@ApiTags('conversations')
@RequireScope('chat')
@Controller('v1/conversations/:id')
export class MessagesController {
  constructor(
    private readonly log: MessageLog,
    private readonly previews: WindowPreviews,
  ) {}

  @Get('messages')
  @ListMessagesDocs()
  list(
    @Param('id') id: string,
    @Query() query: ListMessagesQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<MessageObjectList> {
    return this.log.list(placeOf(caller, id), query);
  }

  @Delete('messages')
  @ClearMessagesDocs()
  async clear(@Param('id') id: string, @CurrentExchange() exchange: Exchange): Promise<ConversationCard> {
    const { caller, request, reply } = exchange;
    const conversation = await this.log.clear(placeOf(caller, id), readIfMatch(request.headers['if-match']));
    void reply.header('etag', etagOf(conversation));
    return conversationCard(conversation);
  }

  @Get('export')
  @ExportConversationDocs()
  async export(@Param('id') id: string, @CurrentExchange() { caller, reply }: Exchange): Promise<Readable> {
    const lines = await this.log.lines(placeOf(caller, id));
    void reply.headers({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="conversation.jsonl"',
      'cache-control': 'no-store',
    });
    return Readable.from(lines, { objectMode: false });
  }

  @Get('window')
  @PreviewWindowDocs()
  window(
    @Param('id') id: string,
    @Query() query: WindowQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<WindowPreview> {
    return this.previews.of(placeOf(caller, id), caller, query);
  }
}
