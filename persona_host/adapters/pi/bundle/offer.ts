/** What is offered in Pi before Python has been started: tools, commands and cards, from the manifest beside this file. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";

import type { Bridge } from "./bridge.ts";
import { type Json, Refusal } from "./link.ts";
import { unavailable } from "./words.ts";

export interface Manifest {
  hash: string;
  tools: { name: string; description: string; parameters: Json }[];
  commands: { name: string; description: string }[];
  renders: string[];
}

export interface Config {
  command: string[];
  manifest: Manifest;
}

/** Register everything that a manifest names. */
export function offer(pi: ExtensionAPI, manifest: Manifest, bridge: () => Bridge | undefined): void {
  for (const tool of manifest.tools) registerTool(pi, tool, bridge);
  for (const item of manifest.commands) registerCommand(pi, item, bridge);
  for (const type of manifest.renders) registerCard(pi, type, bridge);
}

function registerTool(pi: ExtensionAPI, tool: Manifest["tools"][number], bridge: () => Bridge | undefined): void {
  pi.registerTool({
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters: tool.parameters as never,
    // Python says whether there is an owner to offer it for; until then nobody is promised a memory.
    defaultActive: false,
    async execute(_id, params, signal) {
      try {
        const answer = await running(bridge()).tool(tool.name, params as Json, signal);
        const details = { ok: answer.ok === true, changed: String(answer.changed) };
        return { content: [{ type: "text", text: String(answer.text) }], details, isError: !details.ok };
      } catch (error) {
        // What is off was not asked; of everything else nobody knows what it did before it fell silent.
        const changed = error instanceof Refusal && error.reason === "off" ? "no" : "unknown";
        return { content: [{ type: "text", text: unavailable(error) }], details: { ok: false, changed }, isError: true };
      }
    },
  });
}

function registerCommand(pi: ExtensionAPI, item: Manifest["commands"][number], bridge: () => Bridge | undefined): void {
  const prefix = `/${item.name} `;
  pi.registerCommand(item.name, {
    description: item.description,
    handler: async (args) => running(bridge()).command(`${prefix}${args}`.trim()),
    getArgumentCompletions: async (typed) => {
      const items = (await bridge()?.complete(prefix + typed)) ?? [];
      const before = typed.slice(0, typed.lastIndexOf(" ") + 1);
      const values = items.map((text) => (text.startsWith(prefix) ? text.slice(prefix.length) : before + text));
      return values.map((value) => ({ value, label: value }));
    },
  });
}

function registerCard(pi: ExtensionAPI, type: string, bridge: () => Bridge | undefined): void {
  // Drawn from what is known at that moment: the cards of a resumed session come after its first picture.
  pi.registerEntryRenderer(type, (entry, { expanded }) => ({
    render: (width) => new Text(bridge()?.lines(entry.id, expanded) ?? "", 1, 0).render(width),
    invalidate: () => undefined,
  }));
}

function running(bridge: Bridge | undefined): Bridge {
  if (bridge === undefined) throw new Refusal("off", "the session has ended");
  return bridge;
}

/** Which Python, and what it offers: files beside this one, written by `persona install pi`. */
export function configuration(): Config {
  const read = (name: string): Json => {
    try {
      return JSON.parse(readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8")) as Json;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  };
  const python = process.env.PERSONA_PYTHON || read("config.json").python;
  // -P: a file in the project's own folder must not pass for a module of ours.
  const command = typeof python === "string" ? [python, "-P", "-m", "persona_host.adapters.stdio"] : [];
  return { command, manifest: { hash: "", tools: [], commands: [], renders: [], ...read("manifest.json") } as Manifest };
}
