/** One session: the link to Python, the host's side of it, and the block for the next requests. */

import type {
  ContextEvent,
  ExtensionAPI,
  ExtensionContext,
  ToolCallEvent,
  ToolResultEvent,
} from "@earendil-works/pi-coding-agent";

import { type Card, PiHost } from "./host.ts";
import { type Json, Link } from "./link.ts";
import { type Manifest, offer } from "./offer.ts";
import { MAX_TEXT, off, textOf, unavailable } from "./words.ts";

const PROTOCOL = 1;
/** How long the first events of a session may wait, all together, for Python to start; longer on a slow machine. */
const PATIENCE_MS = Number(process.env.PERSONA_PATIENCE_MS) || 1500;
/** A little more than Python's own budgets, so that one late plugin is not taken for a hung process. */
const INPUT_SECONDS = 0.4;
const BLOCK_SECONDS = 0.9;
const HOOK_SECONDS = 0.4;
const EXTRACTION_SECONDS = 30;
const COMMAND_SECONDS = 60;
const TOOL_SECONDS = 300;

type Messages = ContextEvent["messages"];

export class Bridge {
  private readonly host: PiHost;
  private readonly link: Link;
  /** What the plugins listen to; kept through a restart and without Python, since a guard that is gone lets nothing pass. */
  private hooks = new Set<string>();
  private prompt = "";
  private block = "";
  private outdated = false;
  private readonly ours: Set<string>;

  constructor(
    private readonly pi: ExtensionAPI,
    private readonly ctx: ExtensionContext,
    command: string[],
    private readonly manifest: Manifest,
    private readonly reason: string,
  ) {
    this.host = new PiHost(pi, ctx);
    this.ours = new Set(manifest.tools.map((tool) => tool.name));
    this.link = new Link({
      command,
      patienceMs: PATIENCE_MS,
      hello: () => this.hello(),
      ready: (greeting) => this.ready(greeting),
      down: (why) => this.down(why),
      answer: (method, params, signal) => this.host.answer(method, params, signal),
      notice: (method, params) => this.notice(method, params),
    });
  }

  serves(ctx: ExtensionContext): boolean {
    return ctx.sessionManager.getSessionId() === this.ctx.sessionManager.getSessionId();
  }

  start(): void {
    this.link.start();
  }

  async close(reason: string): Promise<void> {
    this.host.close();
    this.block = "";
    await this.link.close(reason);
  }

  tell(hook: string, params: Json = {}): void {
    if (this.hooks.has(hook)) this.link.tell(`event/${hook}`, this.here(params));
  }

  async input(text: string, source: string): Promise<{ action: "handled" } | { action: "transform"; text: string } | undefined> {
    const answer = await this.link.ask("event/input", this.here({ text: text.slice(0, MAX_TEXT), source }), INPUT_SECONDS);
    if (answer?.action === "handled") {
      this.card(answer.card as Card);
      return { action: "handled" };
    }
    if (answer?.action === "transform" && text.length <= MAX_TEXT) return { action: "transform", text: String(answer.text) };
    return undefined;
  }

  /** Fetch the block for the run that begins. */
  async prepare(prompt: string): Promise<undefined> {
    this.prompt = prompt.slice(0, MAX_TEXT);
    this.block = "";
    if (this.hooks.has("before_turn")) {
      await this.link.ask("event/before_turn", this.here({ text: this.prompt }), EXTRACTION_SECONDS);
    }
    await this.refresh();
    return undefined;
  }

  /** Put the block before the last words of the person's, for this request only. */
  async inject(messages: Messages): Promise<{ messages: Messages } | undefined> {
    if (this.outdated) await this.refresh();
    if (this.block === "") return undefined;
    const place = messages.findLastIndex((message) => message.role === "user");
    const memory = { type: "text" as const, text: this.block };
    if (place < 0) return { messages: [{ role: "user", content: [memory], timestamp: 0 }, ...messages] };
    const spoken = messages[place]!;
    if (spoken.role !== "user") return undefined;
    const said = typeof spoken.content === "string" ? [{ type: "text" as const, text: spoken.content }] : spoken.content;
    return { messages: messages.with(place, { ...spoken, content: [memory, ...said] }) };
  }

  /** Ask the plugins whether a tool may run. Where one of them wants to be asked and cannot be, it may not. */
  async toolCall(event: ToolCallEvent): Promise<{ block: true; reason: string } | undefined> {
    if (!this.hooks.has("tool_call")) return undefined;
    await this.link.whenUsable();
    const params = { ...about(event), arguments: event.input };
    const answer = await this.link.ask("event/tool_call", this.here(params), HOOK_SECONDS);
    if (answer === undefined) {
      const why = this.link.reason === "" ? "" : ` ${off(this.link.reason)}`;
      return { block: true, reason: `The tool was not run: it could not be checked.${why}` };
    }
    return typeof answer.veto === "string" ? { block: true, reason: answer.veto } : undefined;
  }

  /** Let the plugins see a tool's result, and change what the model reads of it. */
  async toolResult(event: ToolResultEvent): Promise<{ content: ToolResultEvent["content"] } | undefined> {
    if (!this.hooks.has("tool_result")) return undefined;
    const text = textOf(event.content);
    const params = { ...about(event), text, isError: event.isError };
    const answer = await this.link.ask("event/tool_result", this.here(params), HOOK_SECONDS);
    if (typeof answer?.text !== "string" || text.length >= MAX_TEXT) return undefined;
    return { content: [{ type: "text", text: answer.text }, ...event.content.filter((part) => part.type !== "text")] };
  }

  /** Another extension says that it speaks for somebody else now. */
  companionChanged(): void {
    this.link.tell("companion", this.here({}));
  }

  async settled(aborted: boolean): Promise<void> {
    // Not awaited by Pi for long: the cards of late work may come whenever they come.
    if (!this.link.isReady || !this.hooks.has("agent_settled")) return;
    this.link.request("event/agent_settled", this.here({ aborted }), { seconds: 10 }).then(
      (answer) => (answer.cards as Card[]).forEach((card) => this.card(card)),
      () => undefined,
    );
  }

  async command(line: string): Promise<void> {
    await this.link.whenUsable(COMMAND_SECONDS * 1000);
    try {
      const answer = await this.link.request("command", this.here({ line }), { seconds: COMMAND_SECONDS });
      if (answer.changed !== "no") this.outdated = true;
      this.card(answer.card as Card);
    } catch (error) {
      this.host.show(unavailable(error), "warning");
    }
  }

  async complete(line: string): Promise<string[]> {
    const answer = await this.link.ask("complete", { line }, 0.2);
    return (answer?.items ?? []) as string[];
  }

  async tool(name: string, args: Json, signal: AbortSignal | undefined): Promise<Json> {
    await this.link.whenUsable();
    const options = { seconds: TOOL_SECONDS, ...(signal === undefined ? {} : { signal }) };
    return this.link.request("tool", this.here({ name, arguments: args }), options);
  }

  private async refresh(): Promise<void> {
    this.outdated = false;
    const answer = await this.link.ask("event/before_agent_start", this.here({ prompt: this.prompt }), BLOCK_SECONDS);
    this.block = typeof answer?.block === "string" ? answer.block : "";
  }

  private here(params: Json): Json {
    return { ...params, leaf: this.ctx.sessionManager.getLeafId(), foreign: this.host.foreign() };
  }

  private hello(): Json {
    return {
      ...this.host.identity(),
      protocol: PROTOCOL,
      manifest: this.manifest.hash,
      host: { name: "pi", lacks: this.ctx.hasUI ? [] : ["ui"] },
      reason: this.reason,
      trusted: this.ctx.isProjectTrusted(),
      persona: this.flag("persona"),
      role: this.flag("persona-role"),
      foreign: this.host.foreign(),
    };
  }

  private flag(name: string): string | null {
    const value = this.pi.getFlag(name);
    return typeof value === "string" && value !== "" ? value : null;
  }

  private ready(greeting: Json): void {
    this.hooks = new Set(greeting.hooks as string[]);
    this.adopt(greeting.current as Manifest | undefined);
    this.activate(greeting.tools as string[]);
    void this.fillCards();
  }

  /** Python is of another release than the manifest beside this file, or has other plugins: what it says counts. */
  private adopt(current: Manifest | undefined): void {
    if (current === undefined) return;
    for (const tool of current.tools) this.ours.add(tool.name);
    offer(this.pi, current, () => this);
    if (this.manifest.hash !== "") {
      this.host.show("persona: what Pi knows is of another release; run `persona install pi` to renew it", "warning");
    }
  }

  /** Offer these tools of ours and no others; the loadout is left alone where it is right already. */
  private activate(names: readonly string[]): void {
    const active = this.pi.getActiveTools();
    const wanted = [...active.filter((name) => !this.ours.has(name)), ...names];
    if (wanted.length !== active.length || wanted.some((name) => !active.includes(name))) this.pi.setActiveTools(wanted);
  }

  private down(reason: string): void {
    this.block = "";
    this.activate([]);
    this.host.show(off(reason), "warning");
  }

  private notice(method: string, params: Json): void {
    // What comes in while Python ends its session finds a context that Pi has already withdrawn: touching it throws.
    if (this.host.isClosed) return;
    if (method === "ui.notify") this.host.show(String(params.text), String(params.level));
    else if (method === "ui.status") this.host.status(String(params.key), params.text === null ? undefined : String(params.text));
    else if (method === "host.tools") this.activate(params.names as string[]);
    else if (method === "ui.card") this.entryCard(String(params.entryId), params as unknown as Card);
  }

  private card(card: Card): void {
    this.host.show(card.expanded.join("\n"), card.level);
  }

  /** In the terminal a card stands in the conversation, where its entry is; elsewhere it is a notice. */
  private entryCard(id: string, card: Card): void {
    this.host.cards.set(id, card);
    if (this.ctx.mode === "tui") this.repaint();
    else this.host.show(card.compact.join("\n"), card.level);
  }

  /** Make the cards of a resumed session's entries, from what is stored now. */
  private async fillCards(): Promise<void> {
    if (this.ctx.mode !== "tui") return;
    const entries = this.ctx.sessionManager.getBranch().filter((entry) => entry.type === "custom");
    const wanted = entries.map(({ id, customType, data }) => ({ id, customType, data: data ?? {} }));
    if (wanted.length === 0) return;
    const answer = await this.link.request("cards", { entries: wanted }, { seconds: 10 }).catch(() => undefined);
    for (const [id, card] of Object.entries((answer?.cards ?? {}) as Record<string, Card>)) this.host.cards.set(id, card);
    this.repaint();
  }

  /** What an entry's card says, as far as it is known by now. */
  lines(id: string, expanded: boolean): string {
    const card = this.host.cards.get(id);
    return (expanded ? card?.expanded : card?.compact)?.join("\n") ?? "";
  }

  private repaint(): void {
    // Pi repaints when its status line is set; an entry's renderer has no handle of its own.
    this.host.status("persona", undefined);
  }
}

/** Which call an event is about, under the names of the wire. */
function about(event: ToolCallEvent | ToolResultEvent): Json {
  return { tool: event.toolName, callId: event.toolCallId, parent: event.parentToolCallId ?? null };
}
