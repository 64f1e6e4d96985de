/**
 * Companions of other extensions: who speaks, and whose memory it is, asked on `pi.events` in the tick that needs it.
 *
 * A query is `{ sessionId, seat, respond }`; whoever has an answer calls `respond` before `emit` returns. Nothing is
 * kept of it, since an answer is true for one moment only.
 */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import type { Json } from "./link.ts";

export const CHANGED = "pi-persona:memory-owner-changed:v1";
const COMPANION = "pi-persona:companion:v1";
const OWNER = "pi-persona:memory-owner:v1";
const SEAT = "main";
const MAX_REPLIES = 4;
const MAX_REPLY = 4096;

/** Answers as they came; Python judges them. */
export interface Foreign extends Json {
  companions: unknown[];
  owners: unknown[];
}

/** Return what other extensions answer now; null where there is no companion but ours. */
export function foreign(pi: ExtensionAPI, sessionId: string): Foreign | null {
  const companions = answers(pi, COMPANION, { sessionId });
  return companions.length === 0 ? null : { companions, owners: answers(pi, OWNER, { sessionId, seat: SEAT }) };
}

function answers(pi: ExtensionAPI, channel: string, query: Json): unknown[] {
  const replies: unknown[] = [];
  let open = true;
  const respond = (reply: unknown): void => {
    if (open && replies.length < MAX_REPLIES) replies.push(plain(reply));
  };
  pi.events.emit(channel, { ...query, respond });
  open = false;
  return replies;
}

/** An answer as JSON, whatever it was: one that is no JSON is an answer all the same, of another contract. */
function plain(reply: unknown): unknown {
  try {
    const text = JSON.stringify(reply);
    return text === undefined || text.length > MAX_REPLY ? null : (JSON.parse(text) as unknown);
  } catch {
    return null;
  }
}
