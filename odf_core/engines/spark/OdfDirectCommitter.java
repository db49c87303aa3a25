import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Tasks write where their results belong. An object on S3 is there whole or not at all, and a task that is
    done again writes the same names; renaming, which Hadoop does elsewhere, would be copying there. */
public class OdfDirectCommitter extends OutputCommitter {
    public void setupJob(JobContext job) {}
    public void setupTask(TaskAttemptContext task) {}
    public boolean needsTaskCommit(TaskAttemptContext task) { return false; }
    public void commitTask(TaskAttemptContext task) {}
    public void abortTask(TaskAttemptContext task) {}
}
