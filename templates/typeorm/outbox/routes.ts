/** Where a message goes: what the legacy publish did. */
export type Route =
  /** `ClientProxy.emit(pattern, message)`; `client` is the injection token: a string, or the symbol or class itself. */
  | { readonly transport: 'nest'; readonly client: string | symbol | (abstract new (...args: never[]) => unknown); readonly pattern: string }
  /** RabbitMQ: `publish(exchange, routingKey, …)` or `sendToQueue(queue, …)`. */
  | { readonly transport: 'amqp'; readonly exchange: string; readonly routingKey: string; readonly options?: AmqpOptions }
  | { readonly transport: 'amqp'; readonly queue: string; readonly options?: AmqpOptions }
  /** The code did not tell. Replace it by hand: the relay does not start while there is one. */
  | { readonly transport: 'unresolved'; readonly note: string };

/** Options of the legacy publish that the relay repeats. */
export interface AmqpOptions {
  /** False: a message that no queue takes is dropped, as a plain publish would. By default it counts as a failure. */
  readonly mandatory?: boolean;
  /** True unless set. */
  readonly persistent?: boolean;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly type?: string;
  readonly priority?: number;
  readonly expiration?: string | number;
  readonly appId?: string;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * The message types that the relay may publish, and where each goes. A stored message of any other type goes to
 * `failed`, never to a guess.
 */
export const routes = {} satisfies Record<string, Route>;
