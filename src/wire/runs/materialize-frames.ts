import { Type, type Static } from 'typebox'
import type { Frame, FramesMissed, Placed } from '../../events/frame.ts'

const nullableList = Type.Union([Type.Array(Type.String()), Type.Null()])

/** Payload of `materialize.start`. */
export const StartFrame = Type.Object({
  kind: Type.Literal('materialize.start'),
  ts: Type.String(),
  actor: Type.String(),
  targets: nullableList,
  record_ids: nullableList,
  force: Type.Boolean(),
})

/** Payload of `materialize.end`. */
export const EndFrame = Type.Object({
  kind: Type.Literal('materialize.end'),
  ts: Type.String(),
  actor: Type.String(),
  materialized: Type.Integer(),
  skipped: Type.Integer(),
  failures: Type.Integer({ description: 'The number of entries in `failures` of the response.' }),
  total_cost: Type.Number(),
})

/** Payload of `materialize.error`. */
export const ErrorFrame = Type.Object({
  kind: Type.Literal('materialize.error'),
  ts: Type.String(),
  actor: Type.String(),
  error_type: Type.String(),
  message: Type.String(),
})

/** Payload of `frames.missed`, which only servers that share a sheet send. */
export const MissedFrame = Type.Object({ kind: Type.Literal('frames.missed') })

/** A frame of the event stream (`docs/reference/events.md`). */
export const WireFrame = Type.Union([StartFrame, EndFrame, ErrorFrame, MissedFrame])
export type WireFrame = Static<typeof WireFrame>

/** Converts a frame to the wire format. */
export function toWireFrame(frame: Frame | FramesMissed): WireFrame {
  if (frame.kind === 'frames.missed') return { kind: frame.kind }
  const { ts, actor } = frame
  switch (frame.kind) {
    case 'materialize.start':
      return {
        kind: frame.kind,
        ts,
        actor,
        targets: frame.targets && [...frame.targets],
        record_ids: frame.recordIds && [...frame.recordIds],
        force: frame.force,
      }
    case 'materialize.end':
      return {
        kind: frame.kind,
        ts,
        actor,
        materialized: frame.materialized,
        skipped: frame.skipped,
        failures: frame.failures,
        total_cost: frame.totalCost,
      }
    case 'materialize.error':
      // As in the error envelope.
      return {
        kind: frame.kind,
        ts,
        actor,
        error_type: frame.errorType,
        message: frame.message.toWellFormed(),
      }
  }
}

/** The comment lines at the start of a stream and every 15 seconds. */
export const CONNECTED_COMMENT = ': connected\n\n'
export const KEEPALIVE_COMMENT = ': keepalive\n\n'

/** Sets the `Last-Event-ID` of a client without a frame. */
export function eventId(id: number): string {
  return `id: ${id}\n\n`
}

/** The text of a frame on the stream: `event:`, one line of JSON as `data:`, and an empty line; `id:` before, if it has one. */
export function eventText({ kind, eventId: id }: Placed<{ readonly kind: string }>, payload: object): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${kind}\ndata: ${JSON.stringify(payload)}\n\n`
}

/** The text of a frame on the stream; see {@link eventText}. */
export function renderFrame(frame: Placed<Frame | FramesMissed>): string {
  return eventText(frame, toWireFrame(frame))
}
