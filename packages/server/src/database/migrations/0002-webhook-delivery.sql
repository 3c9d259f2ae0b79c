-- Sending: who works on a delivery, where it stands in its schedule, and the log of every attempt.

-- A delivery runs in series of nine attempts. A resend or replay starts a new series.
ALTER TABLE deliveries
  -- Which attempt of the series comes next: 0 is its first.
  ADD COLUMN slot smallint NOT NULL DEFAULT 0,
  ADD COLUMN trigger text NOT NULL DEFAULT 'FIRST' CHECK (trigger IN ('FIRST', 'RETRY', 'RESEND', 'REPLAY')),
  -- When the first attempt of the series began.
  ADD COLUMN series_started_at timestamptz,
  -- While somebody works on it: their token. Until next_attempt_at nobody else may; then the next takes over.
  ADD COLUMN lease_token text,
  ADD COLUMN attempt_started_at timestamptz;

-- What is due, by endpoint, first attempts before retries.
CREATE INDEX deliveries_due ON deliveries (game_id, env, (slot > 0), next_attempt_at) WHERE state = 'PENDING';
-- One row an attempt, written before it is sent. A partition a day, made by the dispatcher ahead of time; there is no
-- default partition, because with one a partition cannot be detached without locking writers out. No outcome: under way, or lost in a crash.
CREATE TABLE delivery_attempts (
  game_id          text NOT NULL,
  delivery_id      text NOT NULL,
  number           integer NOT NULL,
  started_at       timestamptz NOT NULL,
  trigger          text NOT NULL,
  url              text NOT NULL,
  outcome          text CHECK (outcome IN ('DELIVERED', 'FAILED', 'UNKNOWN')),
  error            text,
  request_headers  jsonb,
  response_status  integer,
  response_headers jsonb,
  response_body    text,
  is_truncated     boolean,
  timings          jsonb,
  PRIMARY KEY (game_id, delivery_id, number, started_at)
) PARTITION BY RANGE (started_at);
