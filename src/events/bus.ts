import type { Event } from "./event.ts";

type Subscriber = (event: Event) => void;

export interface Bus {
  /** Tells every subscriber, at once and in the order in which they came. Never throws. */
  emit(event: Event): void;
  /** Returns what ends the subscription. */
  subscribe(subscriber: Subscriber): () => void;
}

/** `onFault` hears of a subscriber that threw: watching must never disturb what is watched. */
export function createBus(onFault: (error: unknown) => void): Bus {
  // Replaced, never changed, so that an emit under way goes on over the list with which it began.
  let subscribers: readonly Subscriber[] = [];
  return {
    emit(event) {
      for (const subscriber of subscribers) {
        try {
          subscriber(event);
        } catch (error) {
          onFault(error);
        }
      }
    },
    subscribe(subscriber) {
      subscribers = [...subscribers, subscriber];
      return () => {
        subscribers = subscribers.filter((other) => other !== subscriber);
      };
    },
  };
}
