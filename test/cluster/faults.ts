import { setTimeout as delay } from 'node:timers/promises'
import { LEASE_MS } from '../../src/store/run-tasks.ts'
import type { Cluster, Member } from './cluster.ts'

/** The faults of a process. `briefly`: it is back before others may take its tasks; `long`: only after that. */
const FIRST = [
  'kill a worker',
  'kill who sees to the run',
  'halt a worker for long',
  'halt who sees to the run for long',
  'lose what a worker says',
] as const

const ALL = [...FIRST, 'halt a worker briefly', 'hold what a worker says for long'] as const

type Fault = (typeof ALL)[number]

/** Milliseconds after which a process counts as dead, and milliseconds after which it does not yet. */
const LONG_MS = LEASE_MS + 1500
const BRIEF_MS = LEASE_MS / 4

const CHECK_MS = 20

/** Has one process after the other killed, halted and cut off, as random numbers say. */
export class Faults {
  /** The faults so far, in order. */
  readonly done: string[] = []
  readonly #cluster: Cluster
  readonly #random: () => number
  readonly #healing = new Set<Promise<unknown>>()
  #coming: Fault[]
  #stopped = false

  constructor(cluster: Cluster, random: () => number) {
    this.#cluster = cluster
    this.#random = random
    this.#coming = shuffled(FIRST, random)
  }

  /** Does the next of all that can happen, the plainest first, in a new order each time; resolves when it has happened. */
  async next(): Promise<void> {
    if (this.#stopped) return
    if (this.#coming.length === 0) this.#coming = shuffled(ALL, this.#random)
    const fault = this.#coming.shift() as Fault
    const member = await this.#victim(fault)
    this.done.push(`${fault}: ${member?.name ?? 'nobody'}`)
    if (member === null) return
    member.struck = true
    if (fault.startsWith('kill')) await this.#kill(member)
    else if (fault.startsWith('halt')) this.#halt(member, fault.endsWith('long') ? LONG_MS : BRIEF_MS)
    else this.#cut(member, fault.startsWith('lose'))
  }

  /** Nothing happens any more; resolves when all are well again. */
  async end(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#healing)
  }

  /** Null where nobody fits: one of each kind stays. */
  async #victim(fault: Fault): Promise<Member | null> {
    if (fault.includes('the run')) {
      const member = await this.#lockHolder()
      return member === null || member.away || this.#cluster.present(member.role).length < 2 ? null : member
    }
    const workers = this.#cluster.present('worker')
    const fitting = fault.includes('says') ? workers.filter(({ proxy }) => proxy !== null) : workers
    if (workers.length < 2) return null
    return fitting[Math.floor(this.#random() * fitting.length)] ?? null
  }

  /** The coordinator of the run, once there is one. */
  async #lockHolder(): Promise<Member | null> {
    for (;;) {
      const member = await this.#cluster.lockHolder()
      if (member !== null || this.#stopped) return member
      await delay(CHECK_MS)
    }
  }

  /** Another is started in its place, while the rest goes on. */
  async #kill(member: Member): Promise<void> {
    await this.#cluster.kill(member)
    this.#until(this.#cluster.start(member.role, { proxied: member.proxy !== null }))
  }

  #halt(member: Member, ms: number): void {
    member.process.kill('SIGSTOP')
    this.#heal(member, ms, () => member.process.kill('SIGCONT'))
  }

  #cut(member: Member, loses: boolean): void {
    if (loses) member.proxy?.lose()
    else member.proxy?.hold()
    this.#heal(member, LONG_MS, () => member.proxy?.pass())
  }

  #heal(member: Member, ms: number, work: () => void): void {
    member.away = true
    this.#until(back())
    /** The time is that of the fault; what comes of it is waited for elsewhere. */
    async function back(): Promise<void> {
      await delay(ms)
      work()
      member.away = false
    }
  }

  #until(well: Promise<unknown>): void {
    this.#healing.add(well)
    void well.finally(() => this.#healing.delete(well)).catch(() => undefined)
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
