/** Pi's side of the requests that Python makes: its session log, its model, and what it shows. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";

import type { ExtensionAPI, ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";

import { type Foreign, foreign } from "./foreign.ts";
import { type Json, Refusal } from "./link.ts";

export interface Card {
  level: string;
  compact: string[];
  expanded: string[];
}

let runtimes = 0;

export class PiHost {
  /** Cards by entry id. They live in memory only: what a card says must not outlive what it speaks of. */
  readonly cards = new Map<string, Card>();
  private readonly nonce = randomUUID();
  private readonly generation = ++runtimes;
  private readonly sessionId: string;
  private closed = false;
  private said = "";

  constructor(
    private readonly pi: ExtensionAPI,
    private readonly ctx: ExtensionContext,
  ) {
    this.sessionId = ctx.sessionManager.getSessionId();
  }

  /** Which session this is; Python sends it back with everything that touches the session. */
  identity(): Json {
    const log = this.ctx.sessionManager;
    return {
      nonce: this.nonce,
      generation: this.generation,
      sessionId: this.sessionId,
      sessionFile: log.getSessionFile() ?? null,
      cwd: this.ctx.cwd,
      leaf: log.getLeafId(),
    };
  }

  /** What other extensions' companions say now. */
  foreign(): Foreign | null {
    return this.closed ? null : foreign(this.pi, this.sessionId);
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** The session is over; from now on everything is refused. */
  close(): void {
    this.closed = true;
    this.cards.clear();
  }

  answer(method: string, params: Json, signal: AbortSignal): unknown {
    switch (method) {
      case "session.append":
        return this.append(params);
      case "session.entries":
        return this.entries(params);
      case "model.complete":
        return this.complete(params, signal);
      default:
        throw new Refusal("unknown_method");
    }
  }

  /** Show a line or a card's lines to the person; where nobody watches, on standard error. */
  show(text: string, level: string): void {
    if (this.closed) return;
    const kind = level === "warning" || level === "error" ? level : "info";
    if (this.ctx.mode === "tui" || this.ctx.mode === "rpc") this.ctx.ui.notify(text, kind);
    else if (text !== this.said) process.stderr.write(`${text}\n`);
    // Why memory is off is told at the start, and again by each command: there once is enough.
    this.said = text;
  }

  status(key: string, text: string | undefined): void {
    if (!this.closed) this.ctx.ui.setStatus(key, text);
  }

  /** Compare and append in one tick: nothing can come between, since nothing here waits. */
  private append(params: Json): Json {
    const log = this.log(params);
    const guard = params.guard as Json;
    if ("leaf" in guard && guard.leaf !== log.getLeafId()) throw new Refusal("branch_moved");
    if (JSON.stringify(guard.foreign ?? null) !== JSON.stringify(this.foreign())) throw new Refusal("owner_changed");
    this.pi.appendEntry(String(params.customType), params.data);
    const entry = log.getLeafEntry();
    if (entry === undefined) throw new Refusal("not_appended");
    const file = log.getSessionFile();
    return { entry: onTheWire(entry), durable: file !== undefined && existsSync(file) };
  }

  /** The entries that came after the first `since`; a log only grows, so whoever has those has the whole. */
  private entries(params: Json): Json {
    const log = this.log(params);
    const entries = log.getEntries();
    const since = Number(params.since) <= entries.length ? Number(params.since) : 0;
    return { since, entries: entries.slice(since).map(onTheWire), leaf: log.getLeafId() };
  }

  private log(params: Json): ExtensionContext["sessionManager"] {
    const guard = (params.guard ?? {}) as Json;
    const same =
      !this.closed &&
      guard.nonce === this.nonce &&
      guard.generation === this.generation &&
      guard.sessionId === this.sessionId &&
      this.ctx.sessionManager.getSessionId() === this.sessionId;
    if (!same) throw new Refusal("stale_session");
    return this.ctx.sessionManager;
  }

  private async complete(params: Json, signal: AbortSignal): Promise<Json> {
    const model = this.closed ? undefined : this.ctx.model;
    if (model === undefined) throw new Refusal("no_model");
    const deadline = AbortSignal.timeout(Number(params.deadlineMs));
    const content = [{ type: "text" as const, text: String(params.prompt) }];
    const reply = await this.ctx.modelRegistry.complete(
      model,
      { systemPrompt: String(params.system), messages: [{ role: "user", content, timestamp: Date.now() }] },
      { maxTokens: Number(params.maxTokens), signal: AbortSignal.any([signal, deadline]) },
    );
    if (deadline.aborted) throw new Refusal("deadline");
    if (reply.stopReason === "error" || reply.stopReason === "aborted") throw new Refusal("model_failed");
    return {
      text: reply.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
      model: `${model.provider}/${model.id}`,
      inputTokens: reply.usage.input,
      outputTokens: reply.usage.output,
    };
  }
}

/** Entries of Pi's own types go without their content: transcripts do not cross the wire. */
function onTheWire(entry: SessionEntry): Json {
  const { type, id, parentId, timestamp } = entry;
  if (entry.type !== "custom") return { type, id, parentId, timestamp };
  return { type, id, parentId, timestamp, customType: entry.customType, data: entry.data ?? {} };
}
