import { record, SchemaChecker, type Json } from './schema.checker.js';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly value: Json;
}

/** A response or request body in one of its media types. */
export interface Media {
  /** For messages. */
  readonly where: string;
  readonly type: string;
  readonly schema: unknown;
  readonly examples: readonly unknown[];
}

/** The OpenAPI document as a test sees it. */
export class OpenApiDocument extends SchemaChecker {
  private constructor(readonly root: Json) {
    super(root);
  }

  static async of(url: string): Promise<OpenApiDocument> {
    return new OpenApiDocument(record(await (await fetch(`${url}/docs-json`)).json()));
  }

  operations(): readonly Operation[] {
    return Object.entries(record(this.root['paths'])).flatMap(([path, item]) =>
      Object.entries(record(item)).map(([method, value]) => ({ method, path, value: record(value) })),
    );
  }

  operation(id: string): Operation {
    const found = this.operations().find(({ value }) => value['operationId'] === id);
    if (found === undefined) throw new Error(`no operation ${id}`);
    return found;
  }

  /** The documented response; undefined for a status that is not named. */
  response({ value }: Operation, status: number): Json | undefined {
    const response = record(value['responses'])[String(status)];
    return response === undefined ? undefined : this.follow(response);
  }

  responses({ value }: Operation): readonly (readonly [status: string, response: Json])[] {
    return Object.entries(record(value['responses'])).map(([status, response]) => [status, this.follow(response)]);
  }

  media(where: string, holder: Json): readonly Media[] {
    return Object.entries(record(holder['content'])).map(([type, given]) => {
      const { schema, example, examples } = record(given);
      const named = Object.values(record(examples)).map((item) => record(item)['value']);
      return { where: `${where} ${type}`, type, schema, examples: example === undefined ? named : [example] };
    });
  }

  /** Every `$ref` of the document. */
  references(): readonly string[] {
    const found: string[] = [];
    JSON.stringify(this.root, (key, value: unknown) => {
      if (key === '$ref') found.push(String(value));
      return value;
    });
    return found;
  }
}
