import type { HostLimits, HostListener, HostShare, SharedHosts } from '../../store/shared-hosts.ts'

/** Test support: a share whose permits a test gives. */
export class StubShare implements HostShare, SharedHosts {
  places = 0
  slotWaitMs = 0
  /** For each of the next requests, whether its slot has passed when it is to be sent; false once the list is empty. */
  readonly over: boolean[] = []
  /** The calls that it received, in order. */
  readonly told: string[] = []
  limits: HostLimits | null = null
  #listener: HostListener | null = null

  get listener(): HostListener {
    if (this.#listener === null) throw new Error('nobody has joined')
    return this.#listener
  }

  join(origin: string, listener: HostListener): HostShare {
    this.told.push(`join ${origin}`)
    this.#listener = listener
    return this
  }

  /** Gives more permits. */
  give(places: number): void {
    this.places += places
    this.listener.onChange()
  }

  setLimits(limits: HostLimits): void {
    this.limits = limits
  }

  hasPermit(): boolean {
    return this.places > 0
  }

  slotWait(): number {
    return this.slotWaitMs
  }

  begin(): void {
    this.places -= 1
  }

  end(): void {
    this.places += 1
  }

  takeSlot(): () => boolean {
    return () => this.over.shift() ?? false
  }

  pause(ms: number, status: number): void {
    this.told.push(`pause ${ms} ${status}`)
  }

  endPause(): void {
    this.told.push('end of pause')
  }

  leave(): void {
    this.told.push('leave')
  }
}
