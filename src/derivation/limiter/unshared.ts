import type { HostShare } from '../../store/shared-hosts.ts'

function nothing(): void {}

function isNeverOver(): boolean {
  return false
}

/** The part of a process that calls a host alone: all of it. */
export const UNSHARED: HostShare = {
  setLimits: nothing,
  hasPlace: () => true,
  slotWait: () => 0,
  begin: nothing,
  end: nothing,
  takeSlot: () => isNeverOver,
  pause: nothing,
  endPause: nothing,
  leave: nothing,
}
