import { Readable } from 'node:stream';
import { Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequireScope } from '../../auth/index.js';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import { readCall } from './call.reader.js';
import type { CompletionCall } from '../call/completion-call.js';
import { CompletionObserver } from '../call/completion.observer.js';
import { CompletionService } from '../call/completion.service.js';
import { CHAT_REQUEST_BODY, CHAT_RESPONSE } from './chat.schema.js';
import { reportHeaders } from './report.headers.js';

/** A reader that has taken nothing more by this long after the deadline is cut off, ms. */
const LAST_READ_MS = 5_000;

@ApiTags('chat')
@Controller('v1/chat')
@RequireScope('chat')
export class ChatController {
  constructor(
    private readonly completions: CompletionService,
    private readonly observer: CompletionObserver,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  @Post('completions')
  @HttpCode(200)
  @ApiOperation({ summary: "OpenAI's chat completions, as JSON or as server-sent events" })
  @ApiHeader({ name: 'x-coordinator-strict', required: false, description: '`true`: no substitute model' })
  @ApiHeader({ name: 'x-coordinator-timeout-ms', required: false, description: 'a shorter deadline for this request' })
  @ApiBody(CHAT_REQUEST_BODY)
  @ApiOkResponse(CHAT_RESPONSE)
  async complete(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | Readable> {
    const call = readCall(request, reply, this.options.requestDeadlineMs, (ended, error) => {
      this.observer.record(ended, error);
    });
    try {
      return await (call.request.stream === true ? this.stream(call, reply) : this.whole(call, reply));
    } catch (error) {
      call.ended(error);
      throw error;
    } finally {
      void reply.headers(reportHeaders(call));
    }
  }

  private async whole(call: CompletionCall, reply: FastifyReply): Promise<string> {
    const { text, headers } = await this.completions.complete(call);
    call.ended();
    void reply.headers({ ...headers, 'content-type': 'application/json; charset=utf-8' });
    return text;
  }

  private async stream(call: CompletionCall, reply: FastifyReply): Promise<Readable> {
    const { text, headers } = await this.completions.stream(call);
    void reply.headers({
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      // nginx and its kin would collect the stream otherwise.
      'x-accel-buffering': 'no',
    });
    const body = Readable.from(text, { objectMode: false });
    const cut = setTimeout(() => body.destroy(), call.deadlineMs + LAST_READ_MS);
    return body.once('close', () => {
      clearTimeout(cut);
    });
  }
}
