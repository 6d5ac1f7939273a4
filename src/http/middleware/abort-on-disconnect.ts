import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'

/** The work in progress for each connection, of all its requests. */
const WORK = new WeakMap<Socket, Set<AbortController>>()

/**
 * Runs work with a signal that aborts when the client disconnects, so that no work is done for a response that nobody reads. The reason is
 * a ValidationError. (The `signal` of a Fastify request aborts as soon as its body has been read.)
 */
export async function whileConnected<T>(
  { raw: { socket } }: FastifyRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const all = WORK.get(socket) ?? watch(socket)
  all.add(controller)
  try {
    if (socket.destroyed) throw hungUp()
    return await work(controller.signal)
  } finally {
    all.delete(controller)
  }
}

/** Adds one listener to a connection, however many requests it carries at once. */
function watch(socket: Socket): Set<AbortController> {
  const all = new Set<AbortController>()
  WORK.set(socket, all)
  socket.once('close', () => {
    for (const controller of all) controller.abort(hungUp())
  })
  return all
}

function hungUp(): ValidationError {
  return new ValidationError('the client disconnected before the response was ready', 'malformed_request')
}
