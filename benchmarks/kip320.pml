/*
 * Kafka's replication protocol with the fencing of KIP-320, as a model for Spin.
 *
 * Bounds (-D): REPLICAS (2 or 3), LOGSIZE, MAXRECORDS, MAXEPOCH (epochs 0..MAXEPOCH).
 * Mistake (-D): NO_HW_AT_EPOCH_START, the leader expands the ISR before its high
 * watermark has reached its own epoch; StrongIsr then fails.
 *
 * One process, one control state, one d_step for each instance of an action: Spin
 * stores exactly the reachable states of the protocol and its transitions are the
 * protocol's steps. Epochs are stored plus one, 0 is "no epoch yet"; a set of
 * replicas is a bit mask; a record is one byte, and an empty slot is 0.
 */
#ifndef REPLICAS
#define REPLICAS 3
#endif
#ifndef LOGSIZE
#define LOGSIZE 2
#endif
#ifndef MAXRECORDS
#define MAXRECORDS 2
#endif
#ifndef MAXEPOCH
#define MAXEPOCH 2
#endif

#if LOGSIZE < 1 || LOGSIZE > 4 || MAXRECORDS < 1 || MAXRECORDS > 4 || MAXEPOCH < 0 || MAXEPOCH > 3
#error "LOGSIZE and MAXRECORDS are 1 to 4, MAXEPOCH is 0 to 3"
#endif

#define NONE REPLICAS
#define ALL_REPLICAS ((1 << REPLICAS) - 1)

#if REPLICAS == 2
#define FOR_ALL(P, x)   (P(x, 0) && P(x, 1))
#define EACH_REPLICA(A) :: A(0) :: A(1)
#define EACH_PAIR(A)    :: A(0, 1) :: A(1, 0)
#elif REPLICAS == 3
#define FOR_ALL(P, x)   (P(x, 0) && P(x, 1) && P(x, 2))
#define EACH_REPLICA(A) :: A(0) :: A(1) :: A(2)
#define EACH_PAIR(A)    :: A(0, 1) :: A(0, 2) :: A(1, 0) :: A(1, 2) :: A(2, 0) :: A(2, 1)
#else
#error "REPLICAS is 2 or 3"
#endif

#if MAXEPOCH == 0
#define EACH_REQUEST(A) :: A(1)
#elif MAXEPOCH == 1
#define EACH_REQUEST(A) :: A(1) :: A(2)
#elif MAXEPOCH == 2
#define EACH_REQUEST(A) :: A(1) :: A(2) :: A(3)
#else
#define EACH_REQUEST(A) :: A(1) :: A(2) :: A(3) :: A(4)
#endif

/* Record = id and epoch; LeaderAndIsr request = leader and ISR, indexed by epoch. */
#define RECORD(id, e)        ((id) << 3 | (e))
#define RECORD_EPOCH(record) ((record) & 7)
#define REQUEST(l, set)      ((l) << 3 | (set))
#define REQUEST_LEADER(e)    (request[(e) - 1] >> 3)
#define REQUEST_ISR(e)       (request[(e) - 1] & 7)

typedef Replica {
    unsigned end : 3;
    unsigned hw : 3;
    unsigned epoch : 3;
    unsigned leader : 2 = NONE;
    unsigned isr : 3;
    byte log[LOGSIZE]
}

Replica replica[REPLICAS];
byte request[MAXEPOCH + 1] = REQUEST(NONE, 0);
unsigned next_record : 3;
/* The quorum's epoch is always the newest one, so it is the epoch counter too. */
unsigned quorum_epoch : 3;
unsigned quorum_leader : 2 = NONE;
unsigned quorum_isr : 3 = ALL_REPLICAS;

#define BIT(r)          (1 << (r))
#define EPOCHS_LEFT     (quorum_epoch <= MAXEPOCH)
#define LEADS(r)        (replica[r].leader == r)
#define FOLLOWS(l, f)   (LEADS(l) && replica[f].leader == l && replica[f].epoch == replica[l].epoch)
#define TRUE_LEADER(l)  (quorum_leader == l && LEADS(l) && replica[l].epoch == quorum_epoch)
#define HAS_SAME_RECORD(r, s, o) \
    (replica[r].log[o] != 0 && replica[r].log[o] == replica[s].log[o])

#ifdef NO_HW_AT_EPOCH_START
#define HW_REACHED_EPOCH(l) true
#else
#define HW_REACHED_EPOCH(l) \
    (replica[l].hw == replica[l].end || \
     RECORD_EPOCH(replica[l].log[replica[l].hw]) == replica[l].epoch)
#endif

/* Every change by the controller takes a new epoch and leaves a request for ever. */
inline controller_update_isr(new_leader, new_isr)
{
    quorum_leader = new_leader;
    quorum_isr = new_isr;
    request[quorum_epoch] = REQUEST(quorum_leader, quorum_isr);
    quorum_epoch++
}

inline controller_elect_leader(n)
{
    d_step {
        EPOCHS_LEFT && (quorum_isr & BIT(n)) && quorum_leader != n ->
        controller_update_isr(n, quorum_isr)
    }
}

/* A leader which is the last member stays in the ISR; any other last member leaves it. */
inline controller_shrink_isr(r)
{
    d_step {
        EPOCHS_LEFT && (quorum_leader == r || (quorum_isr & BIT(r))) ->
        if
        :: quorum_leader == r && quorum_isr == BIT(r) ->
            controller_update_isr(NONE, quorum_isr)
        :: quorum_leader == r && quorum_isr != BIT(r) ->
            controller_update_isr(NONE, quorum_isr & ~BIT(r))
        :: else ->
            controller_update_isr(quorum_leader, quorum_isr & ~BIT(r))
        fi
    }
}

inline accept_request(r, newer)
{
    replica[r].leader = REQUEST_LEADER(newer);
    replica[r].isr = REQUEST_ISR(newer);
    replica[r].epoch = newer
}

inline become_leader(e)
{
    d_step {
        REQUEST_LEADER(e) != NONE && e > replica[REQUEST_LEADER(e)].epoch ->
        accept_request(REQUEST_LEADER(e), e)
    }
}

inline leader_write(r)
{
    d_step {
        LEADS(r) && next_record < MAXRECORDS && replica[r].end < LOGSIZE ->
        replica[r].log[replica[r].end] = RECORD(next_record, replica[r].epoch);
        replica[r].end++;
        next_record++
    }
}

inline leader_update_isr(l, new_isr)
{
    quorum_isr = new_isr;
    replica[l].isr = quorum_isr
}

inline leader_expand_isr(l, f)
{
    d_step {
        TRUE_LEADER(l) && !(replica[l].isr & BIT(f)) && FOLLOWS(l, f) &&
            replica[f].end >= replica[l].hw && HW_REACHED_EPOCH(l) ->
        leader_update_isr(l, replica[l].isr | BIT(f))
    }
}

/* The two reasons to shrink are two steps, as in the protocol's specification. */
inline leader_shrink_isr_not_following(l, f)
{
    d_step {
        TRUE_LEADER(l) && (replica[l].isr & BIT(f)) && !FOLLOWS(l, f) ->
        leader_update_isr(l, replica[l].isr & ~BIT(f))
    }
}

inline leader_shrink_isr_behind(l, f)
{
    d_step {
        TRUE_LEADER(l) && (replica[l].isr & BIT(f)) && replica[f].end < replica[l].end ->
        leader_update_isr(l, replica[l].isr & ~BIT(f))
    }
}

#define ALLOWS_NEXT_HW(l, f) \
    (!(replica[l].isr & BIT(f)) || (FOLLOWS(l, f) && replica[f].end > replica[l].hw))

inline leader_inc_high_watermark(l)
{
    d_step {
        replica[l].end > replica[l].hw && FOR_ALL(ALLOWS_NEXT_HW, l) ->
        replica[l].hw++
    }
}

/*
 * The request of the epoch in which l leads is the only one that r may take. The log
 * is truncated after the last offset at which both logs have the same record.
 */
inline become_follower_and_truncate(l, r)
{
    d_step {
        LEADS(l) && replica[l].epoch > replica[r].epoch ->
        do
        :: replica[r].end > 0 && !HAS_SAME_RECORD(l, r, replica[r].end - 1) ->
            replica[r].end--;
            replica[r].log[replica[r].end] = 0
        :: else -> break
        od;
        if
        :: replica[r].hw > replica[r].end -> replica[r].hw = replica[r].end
        :: else
        fi;
        accept_request(r, replica[l].epoch)
    }
}

inline follower_fetch(l, f)
{
    d_step {
        FOLLOWS(l, f) && replica[f].end < replica[l].end ->
        replica[f].log[replica[f].end] = replica[l].log[replica[f].end];
        replica[f].end++;
        replica[f].hw = (replica[l].hw < replica[f].end -> replica[l].hw : replica[f].end)
    }
}

/* Below r's high watermark, r and every member of the ISR have the same records. */
#define COMMITTED(r, m, o) (o >= replica[r].hw || HAS_SAME_RECORD(r, m, o))
#if LOGSIZE == 1
#define AGREES(r, m) COMMITTED(r, m, 0)
#elif LOGSIZE == 2
#define AGREES(r, m) (COMMITTED(r, m, 0) && COMMITTED(r, m, 1))
#elif LOGSIZE == 3
#define AGREES(r, m) (COMMITTED(r, m, 0) && COMMITTED(r, m, 1) && COMMITTED(r, m, 2))
#else
#define AGREES(r, m) \
    (COMMITTED(r, m, 0) && COMMITTED(r, m, 1) && COMMITTED(r, m, 2) && COMMITTED(r, m, 3))
#endif
#define WEAK_AGREES(r, m)   (!(replica[r].isr & BIT(m)) || AGREES(r, m))
#define STRONG_AGREES(r, m) (!(quorum_isr & BIT(m)) || AGREES(r, m))
#define WEAK_ISR(r)         (!LEADS(r) || FOR_ALL(WEAK_AGREES, r))
#define STRONG_ISR(r)       (!LEADS(r) || FOR_ALL(STRONG_AGREES, r))

/* Tested once in every stored state; a step only where an invariant is false. */
inline check_weak_isr(r)   { d_step { !WEAK_ISR(r) -> assert(WEAK_ISR(r)) } }
inline check_strong_isr(r) { d_step { !STRONG_ISR(r) -> assert(STRONG_ISR(r)) } }

active proctype protocol()
{
end:
    do
    EACH_REPLICA(check_weak_isr)
    EACH_REPLICA(check_strong_isr)
    EACH_REPLICA(controller_elect_leader)
    EACH_REPLICA(controller_shrink_isr)
    EACH_REQUEST(become_leader)
    EACH_REPLICA(leader_write)
    EACH_PAIR(leader_expand_isr)
    EACH_PAIR(leader_shrink_isr_not_following)
    EACH_PAIR(leader_shrink_isr_behind)
    EACH_REPLICA(leader_inc_high_watermark)
    EACH_PAIR(become_follower_and_truncate)
    EACH_PAIR(follower_fetch)
    od
}
